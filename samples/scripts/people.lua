-- Answers 400 unless the text is a whole number.
function check(id)
  if not id:match('^%d+$') then
    custom_error('not a number: ' .. id, 400)
  end
end

-- Shows a name and a company as texts, and nothing else.
function present(data)
  local company = data:get('company'):get('name')
  data:set('name', data:get('name'):upper())
  data:set('company', company)
  data:del('email')
end
