/** A worker thread as seen from the main thread, and the main thread as seen from the worker. */

import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { KumoError } from '../errors.js'
import type { MaybePromise } from '../types.js'
import type { ToMain, ToWorker, WorkerData } from './messages.js'

/** One end of a channel between two threads. */
export type { MessagePort } from 'node:worker_threads'

export interface ThreadEvents {
  message(message: ToMain): void
  /** It is about to be terminated; resolves when that is safe. */
  terminating(): MaybePromise<void>
  /** It has exited, for whatever reason; `error` is the cause, if known. */
  exit(error: unknown): void
}

/** A running thread. */
export interface Thread {
  /** Resolves when it has exited. */
  readonly exited: Promise<void>
  post(message: ToWorker, transfer?: readonly MessagePort[]): void
  /** Terminates it, whatever it is doing. */
  terminate(): Promise<void>
}

/** How threads are created and connected. */
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
      void this.terminate()
    })
    this.exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        events.exit(this.#error ?? (code === 0 ? undefined : `it exited with code ${code}`))
        resolve()
      })
    })
  }

  post(message: ToWorker, transfer: readonly MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  async terminate(): Promise<void> {
    await this.#events.terminating()
    await this.#worker.terminate()
  }
}

/** What a worker was started with, and its port to the main thread. */
export function insideWorker(): { readonly data: WorkerData; readonly port: MessagePort } {
  if (parentPort === null) {
    throw new KumoError('KUMO_CONTRACT_BROKEN', 'this file must be run in a worker thread of a crawl')
  }
  return { data: workerData as WorkerData, port: parentPort }
}
