import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadRecovery } from '../packages/protocol/src/signing/signatures.js'

/** A solver's reply, as far as a bare server reads it. */
export interface BareReply {
  readonly quote: { readonly outputAmount: string }
  readonly signature: string
}

/** Asks the solver with this number, from 0. @param body the JSON of the service's request */
export type AskSolver = (solver: number, body: string) => Promise<BareReply>

const FILL_WINDOW_SECONDS = 7200
const digest = Buffer.alloc(32, 7)
const { recover: recoverKey } = loadRecovery()

/**
 * The limit for quotes on Node: a bare `node:http` server asks the first `?solvers=` solvers, recovers one public key for
 * each reply with the service's library, and returns all of them, the best one first. It checks, hashes, limits, counts and logs
 * nothing. It prints its port, and answers its CPU seconds to GET. It ends with its parent process.
 */
export function serveBareQuotes(ask: AskSolver): Server {
  const server = createServer((request, response) => answer(ask, request, response)).listen(
    0,
    '127.0.0.1',
    () => {
      process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
    },
  )
  process.stdin.resume().on('end', () => process.exit())
  return server
}

function answer(ask: AskSolver, request: IncomingMessage, response: ServerResponse): void {
  const solvers = Number(request.url?.split('=')[1])
  if (request.method === 'GET') {
    const { user, system } = process.cpuUsage()
    response.end(String((user + system) / 1e6))
    return
  }
  let text = ''
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', async () => {
    const json = await quote(ask, text, solvers)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
    response.end(json)
  })
}

async function quote(ask: AskSolver, text: string, solvers: number): Promise<string> {
  const asked = JSON.parse(text)
  const depositDeadline = Math.floor(Date.now() / 1000) + asked.depositWindow
  const body = JSON.stringify({
    inputToken: asked.inputToken,
    outputToken: asked.outputToken,
    orderType: asked.orderType,
    amount: asked.amount,
    userAddress: asked.userAddress,
    chainId: asked.originChainId,
    destinationChainId: asked.destinationChainId,
    depositMode: asked.depositMode,
    depositDeadline,
    fillDeadline: depositDeadline + FILL_WINDOW_SECONDS,
  })
  const replies = await Promise.all(
    Array.from({ length: solvers }, async (_, solver) => {
      const reply = await ask(solver, body)
      recover(reply)
      return reply
    }),
  )
  const [best, ...alternativeQuotes] = replies.sort((a, b) =>
    Number(BigInt(b.quote.outputAmount) - BigInt(a.quote.outputAmount)),
  )
  return JSON.stringify({ ...best, alternativeQuotes })
}

function recover(reply: BareReply): void {
  const signature = Buffer.from(reply.signature.slice(2), 'hex')
  recoverKey(digest, signature.subarray(0, 64), (signature[64] ?? 0) - 27)
}
