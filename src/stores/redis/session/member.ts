/** The membership of one node, from joining to leaving. */
export interface Member {
  readonly id: string
  readonly token: string
  /** The history of the server, as it names it. */
  run: string
  /** Number of the last commit that was sent. */
  commits: number
}
