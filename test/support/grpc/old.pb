
 
	old.protoold"
Asked
id (	Rid"O
Given
color (	:redRcolor
size (:7Rsize
fresh (Rfresh2$
Old
Get
.old.Asked
.old.Given