-- Each thread of wrk has a separate Lua state. Without different seeds, the threads would create the same keys.
threads = 0
function setup(thread)
	threads = threads + 1
	thread:set("thread", threads)
end

function init()
	math.randomseed(os.time() * 10 + thread)
	sent = 0
	turn = math.random(#requests)
	run = os.time() .. "-" .. math.random(1000000000) .. "-" .. thread .. "-"
	unkeyed = {}
	for i, r in ipairs(requests) do
		unkeyed[i] = format(r)
	end
end

function format(r, key)
	local method, path, token, body = unpack(r)
	local headers = {["Authorization"] = token, ["Idempotency-Key"] = key}
	if body ~= "" then
		headers["Content-Type"] = "application/json"
	else
		body = nil
	end
	return wrk.format(method, path, headers, body)
end

function request()
	sent = sent + 1
	turn = turn % #requests + 1
	if math.random() < keyed then
		return format(requests[turn], run .. sent)
	end
	return unkeyed[turn]
end

if pause > 0 then
	function delay()
		return -pause * math.log(1 - math.random())
	end
end
