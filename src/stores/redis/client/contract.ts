import type { Script } from '../protocol/scripts.js'

/** An argument of a command or script. */
export type Argument = string | number | Uint8Array

/** A command: its name and arguments. */
export type Command = readonly [name: string, ...rest: Argument[]]

/**
 * All that a session needs of a server. The replies of scripts are lists of text; those of commands are as the server
 * gives them, with texts as bytes.
 */
export interface RedisClient {
  /** Runs a script. `key` is the prefix of the crawl's keys. */
  run(script: Script, key: string, args: readonly Argument[]): Promise<readonly string[]>
  /** Runs commands, in order, with one round trip. Rejects if one of them fails. */
  read(commands: readonly Command[]): Promise<readonly unknown[]>
  /** The connection does not answer: drops it and opens another one. Commands that wait for a reply are sent again. */
  reconnect(): void
  /** Drops the connection. What waits for a reply rejects. */
  close(): void
}
