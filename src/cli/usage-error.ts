/** A mistake on the command line. It is printed without a stack, and has its own exit code so that scripts can tell it
 * from a crawl that failed.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
