/**
 * The scripts that change a crawl in Redis. Redis does not roll a script back, so in each of them every check comes
 * before the first write, and the first write is one that a full server refuses.
 *
 * Keys, all in one slot (`K` is `{kumo:<crawl>}`):
 *
 *   K:n           HASH    version identity partitions joined runs seq left run grace born resting over seeds at, and the limits' counters
 *   K:births      LIST    run@seq|seq: each history of the server, and the commit with which it began
 *   K:nodes       HASH    node → until when its lease lasts, on the server's clock
 *   K:node:<id>   HASH    token commit resting, and the shares that it holds of the limits
 *   K:own         HASH    partition → node
 *   K:dirty       HASH    partition → when its owner was evicted
 *   K:for         HASH    free partition → the node that it was given to
 *   K:load        HASH    node → the work that it has, in seconds
 *   K:seeds       LIST    URLs that nodes added while the crawl runs, the last ones; 'seeds' of K:n counts all of them
 *   K:q           HASH    partition → first and last block of its requests
 *   K:q:<p>:<b>   LIST    a block of requests, packed; '' where one is settled
 *   K:h:<p>       HASH    host → clock, delay, trouble
 *   K:s:<p>       LIST    fingerprints of seen URLs, eight bytes each, one or more to an element
 *   K:k:<p>, K:k  HASH    records of hosts, and of the crawl
 *   K:in:<p>      STREAM  links that other nodes found: id <seq>-<i>, one or more requests to an entry
 *   K:mail:<id>   SET     the node's partitions that have such links
 *   K:work        STREAM  documents that nodes leave to others: id <seq>-<i>, with the group 'nodes'; in K:n, 'work' counts their
 *                         bytes and 'waiting' those that nobody has taken
 */

import { createHash } from 'node:crypto'

/** A script, and the name under which the server knows it. */
export interface Script {
  readonly name: string
  readonly text: string
  readonly sha: string
}

/** Changes with the meaning of the keys. A node refuses a crawl of another version. */
export const VERSION = '1'

/** What all scripts begin with. `run` names the history of the server: it changes with a restart and a fail-over. */
const PRELUDE = `
local K = KEYS[1]
local N = K .. ':n'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local history = redis.call('HGET', N, 'run')
local function number(field) return tonumber(redis.call('HGET', N, field) or '0') end

-- A server that was replaced and comes back later begins another history: its run alone would not tell.
local function note_birth(ttl)
  if history and string.match(history, '^%w+') == run then return end
  history = run .. '@' .. number('seq')
  redis.call('HSET', N, 'run', history, 'grace', now + ttl, 'born', now + ttl)
  redis.call('RPUSH', K .. ':births', history .. '|' .. number('seq'))
  redis.call('LTRIM', K .. ':births', -64, -1)
end

-- The commit up to which the history that a node knew is part of this one; -1 if it is not known.
local function base_of(known)
  local base = -1
  local found = false
  for _, birth in ipairs(redis.call('LRANGE', K .. ':births', 0, -1)) do
    local name, seq = string.match(birth, '^([%w@]+)|(%d+)$')
    if found then base = (base < 0) and tonumber(seq) or math.min(base, tonumber(seq)) end
    if name == known then found = true; base = -1 end
  end
  return found and base or -1
end

local function forget_node(id, dirty)
  local node = K .. ':node:' .. id
  local held = redis.call('HMGET', node, 'resting', 'pages', 'requests')
  if held[1] == '1' then redis.call('HINCRBY', N, 'resting', -1) end
  if held[2] then redis.call('HINCRBY', N, 'shared:pages', 0 - held[2]) end
  if held[3] then redis.call('HINCRBY', N, 'shared:requests', 0 - held[3]) end
  local owned = redis.call('HGETALL', K .. ':own')
  for i = 1, #owned, 2 do
    if owned[i + 1] == id then
      redis.call('HDEL', K .. ':own', owned[i])
      if dirty then redis.call('HSET', K .. ':dirty', owned[i], now) end
    end
  end
  -- The documents that it has taken wait again, for whoever calls 'work'.
  if redis.call('EXISTS', K .. ':work') == 1 then
    for _, taker in ipairs(redis.call('XPENDING', K .. ':work', 'nodes')[4] or {}) do
      if taker[1] == id then redis.call('HINCRBY', N, 'waiting', taker[2]) end
    end
  end
  redis.call('HDEL', K .. ':nodes', id)
  redis.call('HDEL', K .. ':load', id)
  redis.call('DEL', node, K .. ':mail:' .. id)
end

local function evict_expired(but)
  if now < number('grace') then return end
  local nodes = redis.call('HGETALL', K .. ':nodes')
  for i = 1, #nodes, 2 do
    if nodes[i] ~= but and tonumber(nodes[i + 1]) < now then forget_node(nodes[i], true) end
  end
end

-- It is over when nothing is left, whoever has it, and no node has anything that is not committed.
local function status(id, seq)
  local nodes = redis.call('HLEN', K .. ':nodes')
  local left = number('left')
  if left > 0 then
    if redis.call('HGET', N, 'over') == '1' then redis.call('HSET', N, 'over', '0') end
  elseif number('resting') == nodes and redis.call('HGET', N, 'over') ~= '1' then
    redis.call('HSET', N, 'over', '1')
  end
  local facts = redis.call('HMGET', N, 'over', 'pages', 'requests', 'bytes', 'shared:pages', 'shared:requests', 'partitions', 'seeds', 'waiting', 'work')
  local free = tonumber(facts[7]) - redis.call('HLEN', K .. ':own')
  local mail = redis.call('SMEMBERS', K .. ':mail:' .. id)
  return { 'ok', tostring(seq), tostring(left), facts[1] or '0', tostring(nodes), tostring(free),
    facts[2] or '0', facts[3] or '0', facts[4] or '0', facts[5] or '0', facts[6] or '0', facts[8] or '0',
    facts[9] or '0', facts[10] or '0', table.concat(mail, ' ') }
end

-- Why a call of a node is refused; nil if it is not.
local function refusal(id, token, known, ttl)
  note_birth(ttl)
  if known ~= history then return { 'reborn', tostring(base_of(known)), history } end
  if redis.call('HGET', K .. ':node:' .. id, 'token') ~= token then return { 'fenced' } end
end
`

/** What a full server runs too: it writes next to nothing, or frees memory. */
const EVEN_IF_FULL = '#!lua flags=allow-oom'

function script(name: string, body: string, first = ''): Script {
  const text = first + PRELUDE + body
  return { name, text, sha: createHash('sha1').update(text).digest('hex') }
}

/**
 * `token ttl version identity partitions former formerToken`: joins the crawl, creating it if there is none. A node that
 * joins again because its history is lost gives its former name, whose partitions are then free at once.
 */
export const JOIN = script(
  'join',
  `
local token, ttl, version, identity = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local partitions, former, former_token = ARGV[5], ARGV[6], ARGV[7]
local known = redis.call('HMGET', N, 'version', 'identity')
if known[1] and known[1] ~= version then return { 'version', known[1] } end
if not known[1] and redis.call('EXISTS', N) == 1 then return { 'version', '?' } end
if known[1] and known[2] ~= identity then return { 'identity', known[2] } end
if not known[1] and former ~= '' then return { 'gone' } end
local seq = redis.call('HINCRBY', N, 'seq', 1)
if not known[1] then
  history = run .. '@0'
  redis.call('HSET', N, 'version', version, 'identity', identity, 'partitions', partitions, 'left', 0, 'run', history, 'grace', 0)
  redis.call('RPUSH', K .. ':births', history .. '|0')
end
note_birth(ttl)
if former ~= '' and redis.call('HGET', K .. ':node:' .. former, 'token') == former_token then forget_node(former, true) end
evict_expired('')
local others = redis.call('HLEN', K .. ':nodes')
local id = tostring(redis.call('HINCRBY', N, 'joined', 1))
if others == 0 then redis.call('HINCRBY', N, 'runs', 1) end
redis.call('HSET', N, 'over', '0')
redis.call('HSET', K .. ':nodes', id, now + ttl)
redis.call('DEL', K .. ':node:' .. id)
redis.call('HSET', K .. ':node:' .. id, 'token', token, 'commit', 0)
return { 'ok', id, tostring(seq), tostring(now), history, tostring(others), redis.call('HGET', N, 'runs') }
`,
)

/**
 * `id token run ttl most`: takes the free partitions that were given to this node, and at most this many of those that were
 * given to nobody who is still there. Answers with each, and 1 if its owner was evicted; before them, for how long a node
 * that did not have them before must not visit their hosts: for a lease after the birth of a history, somebody may have
 * them whom this history does not know.
 */
export const CLAIM = script(
  'claim',
  `
local id, token, known, ttl, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local refused = refusal(id, token, known, ttl)
if refused then return refused end
local seq = redis.call('HINCRBY', N, 'seq', 1)
local taken = {}
for _, p in ipairs(redis.call('HKEYS', K .. ':own')) do taken[p] = true end
local reply = { 'ok', tostring(seq), tostring(math.max(0, number('born') - now)) }
local given = {}
local gifts = redis.call('HGETALL', K .. ':for')
for i = 1, #gifts, 2 do
  if redis.call('EXISTS', K .. ':node:' .. gifts[i + 1]) == 1 then given[gifts[i]] = gifts[i + 1] end
end
for p = 0, number('partitions') - 1 do
  if most <= 0 and #gifts == 0 then break end
  local name = tostring(p)
  if not taken[name] and (given[name] == id or (most > 0 and not given[name])) then
    if given[name] ~= id then most = most - 1 end
    redis.call('HSET', K .. ':own', name, id)
    redis.call('HDEL', K .. ':for', name)
    reply[#reply + 1] = name
    reply[#reply + 1] = tostring(redis.call('HDEL', K .. ':dirty', name))
  end
end
return reply
`,
)

/**
 * `id token run ttl`: prolongs the lease, and evicts nodes whose lease is over. A node that is late itself evicts nobody
 * and grants all others one more lease: it was probably the server that was away.
 */
export const RENEW = script(
  'renew',
  `
local id, token, known, ttl = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local refused = refusal(id, token, known, ttl)
if refused then return refused end
local mine = tonumber(redis.call('HGET', K .. ':nodes', id) or '0')
redis.call('HSET', K .. ':nodes', id, now + ttl)
if mine < now then
  if number('grace') < now + ttl then redis.call('HSET', N, 'grace', now + ttl) end
else
  evict_expired(id)
end
return status(id, redis.call('HGET', N, 'seq'))
`,
  EVEN_IF_FULL,
)

/** `id token run ttl`: what a node that has nothing to commit wants to know. */
export const LOOK = script(
  'look',
  `
local refused = refusal(ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]))
if refused then return refused end
return status(ARGV[1], redis.call('HGET', N, 'seq'))
`,
)

/**
 * `id token run ttl n resting left pages requests bytes want:pages want:requests limit:pages limit:requests operations`.
 * `left`, `pages`, `requests` and `bytes` are changes. A share of a limit comes out of what nobody holds yet: at most the part
 * of one node, so that shares get smaller towards the end.
 */
export const COMMIT = script(
  'commit',
  `
local id, token, known, ttl, n = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local refused = refusal(id, token, known, ttl)
if refused then return refused end
local node = K .. ':node:' .. id
local last = tonumber(redis.call('HGET', node, 'commit'))
if last == n then
  local reply = status(id, redis.call('HGET', N, 'seq'))
  local held = redis.call('HMGET', node, 'pages', 'requests')
  reply[#reply + 1] = held[1] or '0'
  reply[#reply + 1] = held[2] or '0'
  return reply
end
if last ~= n - 1 then return { 'behind', tostring(last) } end
local operations = cmsgpack.unpack(ARGV[15])
local seq = redis.call('HINCRBY', N, 'seq', 1)
redis.call('HSET', node, 'commit', n)
if (redis.call('HGET', node, 'resting') or '0') ~= ARGV[6] then
  redis.call('HSET', node, 'resting', ARGV[6])
  redis.call('HINCRBY', N, 'resting', ARGV[6] == '1' and 1 or -1)
end
redis.call('HINCRBY', N, 'left', ARGV[7])
redis.call('HINCRBY', N, 'bytes', ARGV[10])
redis.call('HSET', N, 'at', now)
local reply_shares = {}
for i, counter in ipairs({ 'pages', 'requests' }) do
  local spent = tonumber(ARGV[7 + i])
  local want, limit = tonumber(ARGV[10 + i]), tonumber(ARGV[12 + i])
  local total = redis.call('HINCRBY', N, counter, spent)
  local held = tonumber(redis.call('HGET', node, counter) or '0')
  local change = 0
  if limit >= 0 then
    change = -math.min(held, spent)
    if want < held + change then change = want - held
    elseif want > held + change then
      local rest = limit - total - (number('shared:' .. counter) + change)
      change = change + math.max(0, math.min(want - held - change, math.ceil(rest / redis.call('HLEN', K .. ':nodes'))))
    end
    if change ~= 0 then
      redis.call('HINCRBY', N, 'shared:' .. counter, change)
      redis.call('HSET', node, counter, held + change)
    end
  end
  reply_shares[i] = tostring(held + change)
end
local mails = 0
local works = 0
for _, op in ipairs(operations) do
  local what = op[1]
  if what == 'mail' then
    local entry = { 'XADD', K .. ':in:' .. op[2], seq .. '-' .. mails }
    for i = 3, #op do entry[#entry + 1] = 'r'; entry[#entry + 1] = op[i] end
    mails = mails + 1
    redis.call(unpack(entry))
    local owner = redis.call('HGET', K .. ':own', op[2])
    if owner then redis.call('SADD', K .. ':mail:' .. owner, op[2]) end
  elseif what == 'take' then
    local inbox = K .. ':in:' .. op[2]
    redis.call('XTRIM', inbox, 'MINID', op[3])
    if redis.call('XLEN', inbox) == 0 then
      redis.call('DEL', inbox)
      redis.call('SREM', K .. ':mail:' .. id, op[2])
    end
  elseif what == 'give' then
    redis.call('SREM', K .. ':mail:' .. id, op[2])
    if redis.call('HGET', K .. ':own', op[2]) == id then
      redis.call('HDEL', K .. ':own', op[2])
      if op[3] then redis.call('HSET', K .. ':for', op[2], op[3]) end
    end
  elseif what == 'work' then
    local stream = K .. ':work'
    if redis.call('EXISTS', stream) == 0 then redis.call('XGROUP', 'CREATE', stream, 'nodes', '0', 'MKSTREAM') end
    redis.call('XADD', stream, seq .. '-' .. works, 'hook', op[2], 'page', op[3])
    works = works + 1
    redis.call('HINCRBY', N, 'waiting', 1)
    redis.call('HINCRBY', N, 'work', #op[3])
  elseif what == 'done' then
    redis.call('XACK', K .. ':work', 'nodes', op[2])
    if redis.call('XDEL', K .. ':work', op[2]) == 1 then
      redis.call('HINCRBY', N, 'left', -1)
      redis.call('HINCRBY', N, 'work', 0 - tonumber(op[3]))
    end
  elseif what == 'LSET' then
    redis.pcall('LSET', K .. op[2], op[3], op[4])
  else
    op[2] = K .. op[2]
    redis.call(unpack(op))
  end
end
local reply = status(id, seq)
reply[#reply + 1] = reply_shares[1]
reply[#reply + 1] = reply_shares[2]
return reply
`,
)

/**
 * `id token run ttl most`: takes documents that other nodes have left, until this node has so many: first those that a node
 * took that is gone. Answers with the seq, and the ids of all that this node has; so a call whose answer was lost takes nothing
 * that nobody knows of.
 */
export const WORK = script(
  'work',
  `
local id, token, known, ttl, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local refused = refusal(id, token, known, ttl)
if refused then return refused end
local stream = K .. ':work'
local reply = { 'ok', redis.call('HGET', N, 'seq') }
if redis.call('EXISTS', stream) == 0 then return reply end
for _, each in ipairs(redis.call('XPENDING', stream, 'nodes', '-', '+', 10000, id)) do reply[#reply + 1] = each[1] end
local had = #reply
if number('waiting') <= 0 then return reply end
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', stream, 'nodes')) do
  local facts = {}
  for i = 1, #consumer, 2 do facts[consumer[i]] = consumer[i + 1] end
  local room = most - (#reply - 2)
  if room > 0 and redis.call('EXISTS', K .. ':node:' .. facts.name) == 0 then
    local claim = { 'XCLAIM', stream, 'nodes', id, 0 }
    for _, each in ipairs(redis.call('XPENDING', stream, 'nodes', '-', '+', math.min(room, 900), facts.name)) do
      claim[#claim + 1] = each[1]
      reply[#reply + 1] = each[1]
    end
    if #claim > 5 then redis.call(unpack(claim)) end
    if #claim - 5 == facts.pending then redis.call('XGROUP', 'DELCONSUMER', stream, 'nodes', facts.name) end
  end
end
local room = most - (#reply - 2)
if room > 0 then
  local fresh = redis.call('XREADGROUP', 'GROUP', 'nodes', id, 'COUNT', room, 'STREAMS', stream, '>')
  if fresh then
    for _, entry in ipairs(fresh[1][2]) do reply[#reply + 1] = entry[1] end
  end
end
if #reply > had then redis.call('HINCRBY', N, 'waiting', had - #reply) end
return reply
`,
)

/** `id token how`: leaves. Its partitions are free at once. `how` is 'dirty' if it died, so that nobody knows its last visits. */
export const LEAVE = script(
  'leave',
  `
if redis.call('HGET', K .. ':node:' .. ARGV[1], 'token') ~= ARGV[2] then return { 'fenced' } end
local seq = redis.call('HINCRBY', N, 'seq', 1)
forget_node(ARGV[1], ARGV[3] == 'dirty')
return { 'ok', tostring(seq) }
`,
  EVEN_IF_FULL,
)

/**
 * `operations id token id token …`: writes records for nodes that live in one process. `operations` are lists of partition
 * ('' for records of the crawl), field and value; without a value, the record is deleted. What belongs to a host that none of
 * these nodes owns is not written: it belongs to somebody else by now.
 */
export const RECORD = script(
  'record',
  `
local operations = cmsgpack.unpack(ARGV[1])
local is_mine = {}
for i = 2, #ARGV, 2 do
  if redis.call('HGET', K .. ':node:' .. ARGV[i], 'token') == ARGV[i + 1] then is_mine[ARGV[i]] = true end
end
for _, op in ipairs(operations) do
  local partition = op[1]
  local owner = partition ~= '' and redis.call('HGET', K .. ':own', partition)
  local records = partition == '' and K .. ':k' or (owner and is_mine[owner] and K .. ':k:' .. partition)
  if records and op[3] then redis.call('HSET', records, op[2], op[3])
  elseif records then redis.call('HDEL', records, op[2]) end
end
return { 'ok' }
`,
)
