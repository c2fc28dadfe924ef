import type { Script } from '../protocol/scripts.js'

/** An argument of a command or script. */
export type Argument = string | number | Uint8Array

/** A command: its name and arguments. */
export type Command = readonly [name: string, ...rest: Argument[]]

/** What a script answered, and whether a fail-over would keep what it wrote. */
export interface ConfirmedReply {
  readonly reply: readonly string[]
  readonly isConfirmed: boolean
}

/**
 * All that a session needs of a server. The replies of scripts are lists of text; those of commands are as the server
 * gives them, with texts as bytes.
 */
export interface RedisClient {
  /** How many replicas must have a lease before it counts; 0: none, so that every answer is confirmed. */
  readonly replicas: number
  /** Runs a script. `key` is the prefix of the crawl's keys. */
  run(script: Script, key: string, args: readonly Argument[]): Promise<readonly string[]>
  /**
   * Runs a script, and says whether enough replicas have what it wrote. They have `timeoutMs` for that. Without it, a
   * primary that was replaced and does not know it yet could go on granting leases.
   */
  runConfirmed(
    script: Script,
    key: string,
    args: readonly Argument[],
    timeoutMs: number,
  ): Promise<ConfirmedReply>
  /** Runs commands, in order, with one round trip. Rejects if one of them fails. */
  read(commands: readonly Command[]): Promise<readonly unknown[]>
  /** The connection does not answer: drops it and opens another one. Commands that wait for a reply are sent again. */
  reconnect(): void
  /** Drops the connection. What waits for a reply rejects. */
  close(): void
}
