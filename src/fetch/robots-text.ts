/**
 * Most of a large robots.txt speaks to others. What it says to us is cut out before it is parsed, because parsed rules
 * take several times the memory of their text and are kept for as long as their host is crawled.
 */

/** The name that addresses every crawler that no group names. */
const EVERYONE = '*'

/**
 * The lines of a robots.txt that decide for one crawler: the rules and delays of the groups that name its product, or
 * of those for `*` if none does, as one group. Empty if nothing is forbidden and no delay is asked for.
 *
 * Groups are told apart exactly as robots-parser does it, so that the answers stay the same: any line with a field
 * name ends a run of agent lines, a group counts as soon as it has a rule or a delay (an empty one too), and an agent
 * is its name in lower case up to the first slash.
 *
 * @example
 * relevantLines('User-agent: a\nDisallow: /a\n\nUser-agent: *\nDisallow: /b', 'kumo') // 'User-agent: *\nDisallow: /b'
 */
export function relevantLines(text: string, product: string): string {
  const ourName = agentName(product) || EVERYONE
  let forUs: string[] | undefined
  let forEveryone: string[] | undefined
  let namesUs = false
  let namesEveryone = false
  let inAgentLines = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [field, value] = fieldOf(line)
    if (field === '') continue
    if (field === 'user-agent') {
      if (!inAgentLines) namesUs = namesEveryone = false
      inAgentLines = true
      const name = agentName(value)
      namesUs ||= name === ourName
      namesEveryone ||= name === EVERYONE
      continue
    }
    inAgentLines = false
    if (field !== 'allow' && field !== 'disallow' && field !== 'crawl-delay') continue
    if (namesUs) forUs ??= []
    if (namesEveryone) forEveryone ??= []
    // A rule without a path matches nothing. It only makes the group count.
    if (value === '' && field !== 'crawl-delay') continue
    const kept = `${field}: ${value}`
    if (namesUs) forUs!.push(kept)
    // Once a group names us, the others no longer matter.
    if (namesEveryone && forUs === undefined) forEveryone!.push(kept)
  }
  const name = forUs === undefined ? EVERYONE : ourName
  const lines = forUs ?? forEveryone ?? []
  return lines.length === 0 ? '' : `user-agent: ${name}\n${lines.join('\n')}`
}

/** The field in lower case and its value, without the comment; an empty field for a line that has none. */
function fieldOf(line: string): readonly [field: string, value: string] {
  const comment = line.indexOf('#')
  const content = comment < 0 ? line : line.slice(0, comment)
  const colon = content.indexOf(':')
  if (colon < 0) return ['', '']
  return [content.slice(0, colon).trim().toLowerCase(), content.slice(colon + 1).trim()]
}

/** `kumo` for `Kumo/1.0`. */
function agentName(agent: string): string {
  const slash = agent.indexOf('/')
  return (slash < 0 ? agent : agent.slice(0, slash)).trim().toLowerCase()
}
