-- Each of wrk's threads has a Lua of its own; without different seeds they would make the same keys.
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
end

function request()
	sent = sent + 1
	turn = turn % #requests + 1
	local method, path, token, body = unpack(requests[turn])
	local headers = {["Authorization"] = token}
	if body ~= "" then
		headers["Content-Type"] = "application/json"
	else
		body = nil
	end
	if math.random() < keyed then
		headers["Idempotency-Key"] = run .. sent
	end
	return wrk.format(method, path, headers, body)
end

if pause > 0 then
	function delay()
		return -pause * math.log(1 - math.random())
	end
end
