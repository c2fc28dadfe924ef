/**
 * What a user of the command did wrong: told in a sentence that says what and how, without a stack, and with the exit
 * code of its own that scripts can tell from a crawl that failed.
 */
export class Misuse extends Error {
  override readonly name = 'Misuse'
}
