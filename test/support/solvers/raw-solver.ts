import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { LocalAccount } from 'viem'
import type { TestChain } from '../chain/chain.js'
import { signQuote } from '../chain/signed-quote.js'
import type { MalformedSolver } from './malformed-solvers.js'
import type { SolverRequest, WireQuote, WireReply } from './solver.js'

/** More than the honest solver offers, for replies that must not count, and less, for those that may. */
const TEMPTING = '999999999999'
const MODEST = '100'

/**
 * Starts a malformed solver on 127.0.0.1. Until it serves, it closes each connection, also that of its
 * registration check.
 */
export async function startRawSolver(
  chain: TestChain,
  account: LocalAccount,
  malformedSolver: MalformedSolver,
  trapPort = 0,
) {
  const sockets = new Set<Socket>()
  let sentBefore = 0
  let first: Socket | undefined
  let isServing = false

  async function sign(quote: WireQuote, signer = account): Promise<WireReply> {
    const signature = await signQuote(signer, chain.domain, {
      ...quote,
      inputAmount: BigInt(quote.inputAmount),
      outputAmount: BigInt(quote.outputAmount),
      outputChainId: BigInt(quote.outputChainId),
      nonce: BigInt(quote.nonce),
    })
    return { quote, signature }
  }

  function offerFor(ask: SolverRequest): Promise<WireReply> {
    return sign({
      solver: account.address,
      user: ask.userAddress,
      inputToken: ask.inputToken,
      inputAmount: ask.amount,
      outputToken: ask.outputToken,
      outputAmount: malformedSolver.outcome === 'quoted' ? MODEST : TEMPTING,
      orderType: 0,
      outputChainId: ask.destinationChainId,
      depositDeadline: ask.depositDeadline,
      fillDeadline: ask.fillDeadline,
      nonce: '1',
    })
  }

  const server = createServer(async (socket) => {
    if (!isServing) return void socket.on('error', () => {}).destroy()
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
      return offerFor(ask)
    }
    try {
      do {
        isAsked = false
        await malformedSolver.serve({ socket, sign, offer, trapPort })
      } while (isAsked && socket.writable)
    } catch {
      // The service has closed the connection.
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    malformedSolver,
    account,
    endpointUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve() {
      isServing = true
    },
    /** Bytes that were sent to the service, those in the sockets' buffers included. */
    sent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, sentBefore),
    /** Resolves when the service has closed the connection of its first request. */
    async abandoned() {
      if (first !== undefined && !first.destroyed) await once(first.resume(), 'close')
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
