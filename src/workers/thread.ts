/** A worker thread as the main thread holds it, and the main thread as the worker does. */

import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { KumoError } from '../errors.js'
import type { MaybePromise } from '../types.js'
import type { ToMain, ToWorker, WorkerData } from './messages.js'

/** One end of a channel between two threads. */
export type { MessagePort } from 'node:worker_threads'

export interface ThreadEvents {
  message(message: ToMain): void
  /** It is to be ended: resolves when it may be. */
  ending(): MaybePromise<void>
  /** It is dead, for whatever reason; `error` is what it died of, if anybody knows. */
  exit(error: unknown): void
}

/** One running thread. */
export interface Thread {
  /** Resolves when it is dead. */
  readonly exited: Promise<void>
  post(message: ToWorker, transfer?: readonly MessagePort[]): void
  /** Ends it, whatever it is doing. */
  end(): Promise<void>
}

/** How threads are made and connected. */
export interface Threads {
  start(data: WorkerData, events: ThreadEvents): Thread
  /** Both ends of a channel between two threads. */
  channel(): readonly [MessagePort, MessagePort]
}

/** Real threads, which run a file. */
export function workerThreads(program: URL): Threads {
  return {
    start: (data, events) => new WorkerThread(program, data, events),
    channel() {
      const { port1, port2 } = new MessageChannel()
      return [port1, port2]
    },
  }
}

class WorkerThread implements Thread {
  readonly #worker: Worker
  readonly #events: ThreadEvents
  #error: unknown = undefined
  readonly exited: Promise<void>

  constructor(program: URL, data: WorkerData, events: ThreadEvents) {
    this.#events = events
    this.#worker = new Worker(program, { workerData: data, name: `kumo ${data.shard.index}` })
    this.#worker.on('message', (message) => events.message(message as ToMain))
    this.#worker.on('error', (error) => {
      this.#error = error
    })
    this.#worker.on('messageerror', (error) => {
      this.#error = error
      void this.end()
    })
    this.exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        events.exit(this.#error ?? (code === 0 ? undefined : `it ended with exit code ${code}`))
        resolve()
      })
    })
  }

  post(message: ToWorker, transfer: readonly MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  async end(): Promise<void> {
    await this.#events.ending()
    await this.#worker.terminate()
  }
}

/** What a thread was given, and the way to who started it. */
export function insideWorker(): { readonly data: WorkerData; readonly port: MessagePort } {
  if (parentPort === null) {
    throw new KumoError(
      'KUMO_CONTRACT_BROKEN',
      'this file is run by worker threads of a crawl, not by itself',
    )
  }
  return { data: workerData as WorkerData, port: parentPort }
}
