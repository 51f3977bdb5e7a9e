import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { LocalAccount } from 'viem'
import type { TestChain } from '../chain/chain.js'
import { listen } from '../listen.js'
import type { MalformedSolver } from './malformed-solvers.js'
import { createQuoteSigner, type SolverRequest, type WireReply } from './solver.js'

/** A solver's reply to a request, which it would win with. */
export function signedBy(chain: Pick<TestChain, 'domain'>, account: LocalAccount, solver = account.address) {
  return async (ask: SolverRequest): Promise<WireReply> => {
    const { quoteFor, sign } = createQuoteSigner(chain, account)
    return sign({ ...quoteFor(ask), solver, outputAmount: '999999999999' })
  }
}

/** Starts a malformed solver on 127.0.0.1. @param replyTo makes a valid reply */
export async function startRawSolver(
  malformedSolver: MalformedSolver,
  replyTo: (ask: SolverRequest) => Promise<WireReply>,
  trapPort = 0,
) {
  const sockets = new Set<Socket>()
  let sentBefore = 0
  let first: Socket | undefined

  const server = createServer(async (socket) => {
    first ??= socket
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => {
      sentBefore += socket.bytesWritten
      sockets.delete(socket)
    })
    const readAsk = askReader(socket)
    let isAsked: boolean
    const offer = async () => {
      const ask = await readAsk()
      isAsked = true
      return replyTo(ask)
    }
    try {
      do {
        isAsked = false
        await malformedSolver.serve({ socket, offer, trapPort })
      } while (isAsked && socket.writable)
    } catch {
      // The service has closed the connection.
    }
  })
  const { url } = await listen(server)

  return {
    endpointUrl: url,
    /** Bytes that were sent to the service, those in the sockets' buffers included. */
    sent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, sentBefore),
    /** Resolves when the service has closed the connection of its first request. */
    async abandoned() {
      if (first?.destroyed === false) await new Promise((resolve) => first?.resume().once('close', resolve))
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A listener that no request may reach. */
export async function startTrap(host = '127.0.0.1', port = 0) {
  let visits = 0
  const server = createServer((socket) => {
    visits++
    socket.on('error', () => {}).destroy()
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    visits: () => visits,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}

/** @returns a reader of the requests of a connection, one after the other */
function askReader(socket: Socket): () => Promise<SolverRequest> {
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  return async () => {
    for (;;) {
      const start = text.indexOf('\r\n\r\n') + 4
      const end = start + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN)
      if (start > 3 && text.length >= end) {
        const ask = JSON.parse(text.slice(start, end))
        text = text.slice(end)
        return ask
      }
      await once(socket, 'data')
    }
  }
}

export type Trap = Awaited<ReturnType<typeof startTrap>>
