/** Reads the call whose key is passed to every script. */
const head = `
local key = KEYS[1]
local call = redis.call('HMGET', key, 'v', 'status', 'hash', 'claim', 'lease', 'ref', 'refs', 'doubt', 'request')
local version, status, hash, claim, lease, ref, refs, doubt, request = unpack(call)
if version and version ~= '1' then return redis.error_reply('LEDGERVERSION ' .. version) end
`;

/** Time of the Redis server, in milliseconds. */
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Lua scripts of the methods. Each runs atomically. */
export const scripts = {
  /** ARGV: claim id, input hash, claim to replace or "", lease in ms. */
  claim: `${head}${clock}
local id, replaces = ARGV[1], ARGV[3]
local isFree = not version
local isAgain = claim == id and status == 'submitting'
if isFree or (not ref and (isAgain or (replaces ~= '' and claim == replaces))) then
  if version and claim ~= id then redis.call('HSET', key, 'doubt', '1') end
  redis.call('HSET', key, 'v', '1', 'status', 'submitting', 'hash', ARGV[2], 'claim', id, 'lease', now + ARGV[4])
  redis.call('HSETNX', key, 'since', now)
  return {'submitting', ARGV[2], id, 'true'}
end
return {status, hash, claim, tostring((tonumber(lease) or 0) > now), ref, refs, request}`,

  /** ARGV: claim id, lease in ms. */
  renew: `${head}${clock}
if claim ~= ARGV[1] or status ~= 'submitting' then return 'false' end
redis.call('HSET', key, 'lease', now + ARGV[2])
return 'true'`,

  /** ARGV: handle, prefix of all handles of the same task, claim id or "" for a manual entry. */
  accept: `${head}
local given, start = ARGV[1], ARGV[2]
local function is_same(text) return string.sub(text, 1, #start) == start end
if not version then redis.call('HSET', key, 'v', '1', 'hash', '', 'claim', '') end
if not ref or ARGV[3] == '' then
  redis.call('HSET', key, 'status', 'accepted', 'ref', given)
  redis.call('PERSIST', key)
end
refs = refs or ''
if not ref or is_same(ref) then return 'ok' end
local isKept = string.find(refs .. '\\n', '\\n' .. ref .. '\\n', 1, true)
if ARGV[3] ~= '' then
  if not string.find(refs, '\\n' .. start, 1, true) then
    redis.call('HSET', key, 'refs', refs .. '\\n' .. given)
  end
elseif not isKept then
  redis.call('HSET', key, 'refs', '\\n' .. ref .. refs)
end
return 'ok'`,

  /** ARGV: end, claim id or "", how long to keep finished calls in ms or "", request of the claim or "". */
  finish: `${head}
local ended = ARGV[1]
if not version or (ARGV[2] ~= '' and ARGV[2] ~= claim) then return 'ok' end
if ended == 'completed' or ended == 'failed' then
  if ref then
    redis.call('HSET', key, 'status', ended)
    if ARGV[3] ~= '' then redis.call('PEXPIRE', key, ARGV[3]) end
  end
elseif not ref then
  if ended == 'not_submitted' and not doubt then redis.call('DEL', key)
  else redis.call('HSET', key, 'status', 'unknown', 'request', ARGV[4]) end
end
return 'ok'`,

  read: `${head}${clock}
if not version then return {} end
return {status, hash, claim, tostring((tonumber(lease) or 0) > now), ref, refs, request}`,

  /** ARGV: cursor, pattern of the keys. Returns the next cursor, and the fields of calls that are not finished. */
  open: `${clock}
local info = redis.pcall('INFO', 'cluster')
if type(info) == 'string' and string.find(info, 'cluster_enabled:1', 1, true) then
  return redis.error_reply('ERR the calls in a cluster cannot be listed')
end
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', '200')
local found = {page[1]}
for _, key in ipairs(page[2]) do
  if redis.call('TYPE', key).ok == 'hash' then
    local call = redis.call('HMGET', key, 'v', 'status', 'hash', 'claim', 'lease', 'ref', 'refs', 'request', 'since')
    local version, status, hash, claim, lease, ref, refs, request, since = unpack(call)
    if version == '1' and status ~= 'completed' and status ~= 'failed' then
      local isLeased = tostring((tonumber(lease) or 0) > now)
      found[#found + 1] = {key, since, status, hash, claim, isLeased, ref, refs, request}
    end
  end
end
return found`,

  /** Returns the eviction policy; "" if memory is unlimited or INFO is not available. */
  eviction: `
local info = redis.pcall('INFO', 'memory')
if type(info) ~= 'string' then return '' end
if (string.match(info, 'maxmemory:(%d+)') or '0') == '0' then return '' end
return string.match(info, 'maxmemory_policy:([%w%-]+)') or ''`,
} as const;
