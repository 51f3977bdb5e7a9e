/**
 * The limit for quotes on Node. A bare `node:http` server asks the first `?solvers=` solvers over undici's
 * pools, recovers one public key for each reply with libsecp256k1, and returns all of them, the best one
 * first. It checks, hashes, limits, counts and logs nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import secp256k1 from 'secp256k1'
import { Pool } from 'undici'

interface Reply {
  quote: { outputAmount: string }
  signature: string
}

const HEADERS = { 'content-type': 'application/json' }
const FILL_WINDOW_SECONDS = 7200
const digest = Buffer.alloc(32, 7)
const pools = (JSON.parse(process.argv[2] ?? '') as string[]).map((endpoint) => new Pool(endpoint))

async function ask(pool: Pool, body: string): Promise<Reply> {
  const response = await pool.request({ path: '/quote', method: 'POST', headers: HEADERS, body })
  const reply = (await response.body.json()) as Reply
  const signature = Buffer.from(reply.signature.slice(2), 'hex')
  secp256k1.ecdsaRecover(signature.subarray(0, 64), (signature[64] ?? 0) - 27, digest, false)
  return reply
}

async function quote(text: string, solvers: number): Promise<string> {
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
  const replies = await Promise.all(pools.slice(0, solvers).map((pool) => ask(pool, body)))
  const [best, ...alternativeQuotes] = replies.sort((a, b) =>
    Number(BigInt(b.quote.outputAmount) - BigInt(a.quote.outputAmount)),
  )
  return JSON.stringify({ ...best, alternativeQuotes })
}

function answer(request: IncomingMessage, response: ServerResponse): void {
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
    const json = await quote(text, solvers)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
    response.end(json)
  })
}

const server = createServer(answer).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
})
// The parent process has ended.
process.stdin.resume().on('end', () => process.exit())
