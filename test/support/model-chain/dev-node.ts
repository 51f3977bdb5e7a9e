import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { keccak256, numberToHex, parseTransaction, recoverTransactionAddress } from 'viem'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { listen } from '../listen.js'
import type { ModelChain } from './model-chain.js'
import { type Asked, createModelNode } from './model-node.js'

interface SentTransaction {
  readonly from: Address
  readonly to: Address
  readonly data?: Hex
  readonly gas?: Hex
}

const METHOD_NOT_FOUND = -32601

/**
 * Serves a model chain as anvil does, over HTTP on a free port of 127.0.0.1: each transaction is mined at once unless a test
 * stops that, and a test moves the time and mines. While the node is down, all answers are 503.
 */
export async function startDevNode(chain: ModelChain, chainId: number) {
  const node = createModelNode(chain, chainId)
  const methods = createDevMethods(chain, (call) => node.request(call))

  async function answer({ id, method, params = [] }: Asked & { readonly id: unknown }) {
    try {
      const own = methods[method]
      const result = await (own === undefined ? node.request({ method, params }) : own(...params))
      return { jsonrpc: '2.0', id, result: result ?? null }
    } catch (error) {
      const { code = METHOD_NOT_FOUND, message, data } = error as Error & { code?: number; data?: Hex }
      return { jsonrpc: '2.0', id, error: { code, message, data } }
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!node.isUp()) return void response.writeHead(503).end()
    const body = (await json(request)) as Parameters<typeof answer>[0] | Parameters<typeof answer>[0][]
    const answers = await Promise.all([body].flat().map(answer))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  }

  const server = createServer((request, response) => {
    // A client that leaves in the middle of its request.
    respond(request, response).catch(() => response.destroy())
  })
  const { url } = await listen(server)
  return {
    url,
    setState: node.setState,
    intercept: node.intercept,
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: parameters of JSON-RPC
type Methods = Record<string, (...params: any[]) => unknown>

function createDevMethods(chain: ModelChain, ask: (call: Asked) => Promise<unknown>): Methods {
  let minesAtOnce = true
  /** How many seconds the chain is ahead of the wall clock. */
  let offset = 0

  const wallClock = () => Math.floor(Date.now() / 1000)

  const mine = () => chain.mine(Math.max(chain.head().timestamp, wallClock() + offset))

  function submit({ from, to, data = '0x' }: SentTransaction, hash?: Hex): Hex {
    const sent = chain.act(lowerCase(from), lowerCase(to), lowerCase(data), hash)
    if (minesAtOnce) mine()
    return sent
  }

  return {
    async eth_sendTransaction(transaction: SentTransaction) {
      // Without a limit of gas it is estimated, so that a call that reverts is not sent.
      if (transaction.gas === undefined) await ask({ method: 'eth_estimateGas', params: [transaction] })
      return submit(transaction)
    },
    async eth_sendRawTransaction(raw: Hex) {
      const from = await recoverTransactionAddress({ serializedTransaction: raw as never })
      const { to, data } = parseTransaction(raw)
      return submit({ from, to: to as Address, ...(data && { data }) }, keccak256(raw))
    },
    evm_setAutomine(isOn: boolean) {
      minesAtOnce = isOn
    },
    anvil_mine(count: Hex = '0x1', intervalSeconds: Hex = '0x0') {
      for (let left = Number(count); left > 0; left--) {
        mine()
        offset += Number(intervalSeconds)
      }
    },
    evm_increaseTime(seconds: Hex) {
      offset += Number(seconds)
      return numberToHex(offset)
    },
    /** Nobody needs gas. */
    anvil_setBalance: () => null,
  }
}
