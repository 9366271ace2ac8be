module gofloor

go 1.22
