/** Names of people: `Jane (jane@example.com)`, whichever way round a feed writes it. */

const MAIL_FIRST = /^(\S+@\S+)\s*\(([^)]*)\)$/
const MAIL_LAST = /^([^<>]*?)\s*<(?:mailto:)?([^<>@\s]+@[^<>\s]+)>$/i
const CHILD = /<(?:[\w-]+:)?(name|email)\b[^<>]*>([^<]*)/gi
const BARE_MAIL = /^\S+@\S+$/

/** A longer name is none. It also bounds the patterns. */
const LONGEST = 2000

/** How an author is shown. `decode` decodes references. */
export function personOf(author: string, decode: (text: string) => string): string {
  const written = author.slice(0, LONGEST)
  let name = ''
  let mail = ''
  if (/<(?:[\w-]+:)?(?:name|email)\b/i.test(written)) {
    for (const [, kind = '', value = ''] of written.matchAll(CHILD)) {
      const text = collapsed(decode(value))
      if (kind.toLowerCase() === 'name') name ||= text
      else mail ||= text
    }
  } else {
    const text = collapsed(decode(written.replace(/<\/?[a-z][^<>]*>/gi, ' ')))
    const first = MAIL_FIRST.exec(text)
    const last = first === null ? MAIL_LAST.exec(text) : null
    if (first !== null) [, mail = '', name = ''] = first
    else if (last !== null) [, name = '', mail = ''] = last
    else name = text
  }
  name = name.trim()
  if (mail === '' || name.includes(mail)) return name
  return name === '' ? mail : `${name} (${mail})`
}

/** A mail address alone says less than a name from another element. */
export function isBareMail(person: string): boolean {
  return BARE_MAIL.test(person)
}

/** Text with its white space collapsed. */
export function collapsed(text: string): string {
  const trimmed = text.trim()
  return /\s\s|[\t\n\r]/.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed
}
