/** A line to a server that can be cut off without a word, and slowed down. */

import { connect, createServer, type Server, type Socket } from 'node:net'

export class SlowLine {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false
  #isReplicationCut = false
  /** How long each piece of data is on its way, in each direction. */
  delayMs = 0
  port = 0

  private constructor(to: number) {
    this.#server = createServer((client) => this.#carry(client, to))
  }

  static async start(to: number): Promise<SlowLine> {
    const proxy = new SlowLine(to)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    proxy.port = (proxy.#server.address() as { port: number }).port
    return proxy
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Nothing passes any more; connections stay open, and new ones get no answer. */
  cut(): void {
    this.#isCut = true
  }

  /** Replicas hear nothing any more, while everybody else does. */
  cutReplication(): void {
    this.#isReplicationCut = true
  }

  /** New connections work again. Those that were cut stay silent. */
  mend(): void {
    this.#isCut = false
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #carry(client: Socket, to: number): void {
    const server = connect(to, '127.0.0.1')
    let wasCut = this.#isCut
    let isReplication = false
    for (const [from, into] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (data) => {
        isReplication ||= from === client && data.includes('listening-port')
        wasCut ||= this.#isCut || (isReplication && this.#isReplicationCut)
        if (wasCut) return
        if (this.delayMs === 0) into.write(data)
        else setTimeout(() => into.writable && into.write(data), this.delayMs)
      })
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        if (!wasCut) into.destroy()
      })
    }
  }
}
