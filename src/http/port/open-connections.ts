import type { Socket } from 'node:net'
import { afterReading } from '../../concurrency/after-reading.js'

/** The open connections of a server. */
export class OpenConnections {
  readonly #all = new Set<Socket>()
  /** Those that have not shown which protocol they speak. */
  readonly #unidentified = new Set<Socket>()
  readonly #forget: (this: Socket) => void
  #onLastGone = () => {}

  constructor() {
    const forget = (socket: Socket) => this.#remove(socket)
    this.#forget = function (this: Socket) {
      forget(this)
    }
  }

  add(socket: Socket): void {
    this.#all.add(socket)
    this.#unidentified.add(socket)
    // These listeners stay for as long as the connection, so all connections share them.
    socket.on('error', destroy).once('close', this.#forget)
  }

  /** Records that a connection has shown its protocol. */
  identify(socket: Socket): void {
    this.#unidentified.delete(socket)
  }

  /** Waits until no connection is left, for `timeoutMs` at most. */
  async untilNone(timeoutMs: number): Promise<void> {
    if (this.#all.size === 0) return
    await new Promise<void>((resolve) => {
      // A request that has come by then is read, also when the process stood still.
      const timer = setTimeout(() => void afterReading(resolve), timeoutMs)
      this.#onLastGone = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  destroyUnidentified(): void {
    for (const socket of this.#unidentified) socket.destroy()
  }

  destroyAll(): void {
    for (const socket of this.#all) socket.destroy()
  }

  #remove(socket: Socket): void {
    this.#unidentified.delete(socket)
    this.#all.delete(socket)
    if (this.#all.size === 0) this.#onLastGone()
  }
}

/** Destroys the socket whose event it listens to. */
export function destroy(this: Socket): void {
  this.destroy()
}
