import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getAbiItem, toFunctionSelector } from 'viem'
import { afterEach, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { deploySettlement } from '../../../packages/cli/src/devnet/deploy.js'
import { bytecodeNamed, deployer, startChain } from '../../support/chain/chain.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { shared } from '../../support/shared.js'
import { itDiagnoses, startDoctorFixture } from './doctor.js'

const DEPOSIT_ADDRESS = toFunctionSelector(getAbiItem({ abi: settlementAbi, name: 'computeDepositAddress' }))
const NO_CONTRACT = `0x${'11'.repeat(20)}`

const inAnHour = String(Math.floor(Date.now() / 1000) + 3600)
const fixture = await shared(startDoctorFixture({}, startChain))
const { environment } = fixture
/** Another network with the same chain id, whose clock is an hour ahead. */
const stranger = await shared(startAnvil({ extraArgs: ['--timestamp', inAnHour] }))
const proxy = await shared(startRpcProxy(fixture.chain.devnet.rpcUrl))

afterEach(() => {
  proxy.intercept()
  proxy.setUp(true)
})

/** The proxy as the node, without a call that the contract or the node has otherwise. */
function without(what: string) {
  if (what.startsWith('0x')) proxy.revert(what as `0x${string}`)
  else
    proxy.intercept(async ({ method }, pass) =>
      method === what ? { error: { code: -32601, message: 'no such method' } } : pass(),
    )
  return { RPC_URL_31337: proxy.url }
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  return String((server.address() as AddressInfo).port)
}

itDiagnoses(fixture, [
  {
    what: 'the member of an answer that keeps the next block from being read',
    given() {
      proxy.intercept(async ({ method }, pass) => {
        if (method === 'eth_getLogs') return { result: 'pruned' }
        const reply = await pass()
        if (!method.startsWith('eth_getBlockBy')) return reply
        return { result: { ...(reply.result as object), logsBloom: null, transactions: null } }
      })
      return { RPC_URL_31337: proxy.url }
    },
    failed: ['RPC_URL_31337 block'],
    says: /^block \d+ cannot be read at logs: /,
  },
  {
    what: 'a dead endpoint only by its host, because its URL may contain a key',
    given() {
      proxy.setUp(false)
      return { RPC_URL_31337: `${proxy.url}/v3/secret-key` }
    },
    failed: ['RPC_URL_31337 reachable'],
    warned: ['SERVICE_ADDRESS_31337'],
    says: /^127\.0\.0\.1:\d+ does not answer: (?!.*secret).*503/,
  },
  {
    what: 'an endpoint of another chain, with both chain ids',
    given: () => ({
      ...{ SUPPORTED_CHAINS: '1', RPC_URL_1: environment.RPC_URL_31337 },
      SERVICE_ADDRESS_1: environment.SERVICE_ADDRESS_31337,
    }),
    failed: ['RPC_URL_1 chain id'],
    warned: ['RPC_URL_31337', 'SERVICE_ADDRESS_31337', 'SERVICE_ADDRESS_1'],
    says: 'answers for chain 31337, and not for 1',
    remedy: 'RPC_URL_1, or correct SUPPORTED_CHAINS',
  },
  {
    what: 'two networks with one chain id, and a clock that is far too early',
    given: () => ({ RPC_URL_31337: `${environment.RPC_URL_31337},${stranger.url}` }),
    failed: ['RPC_URL_31337 URL 2 head', 'RPC_URL_31337 agreement'],
    // The time in which the tests before this one ran counts too.
    says: /^block \d+, \d\d min ahead of the clock/,
    remedy: "Set the machine's clock, by NTP",
  },
  {
    what: 'an endpoint without batches, which is checked by single calls',
    async given() {
      const server = createServer(async (request, response) => {
        const body = (await request.toArray()).join('')
        if (body.startsWith('[')) return void response.writeHead(400).end()
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(fixture.chain.devnet.rpcUrl, { method: 'POST', headers, body })
        response.end(await answer.text())
      })
      return { RPC_URL_31337: `http://127.0.0.1:${await listen(server)}` }
    },
    warned: ['RPC_URL_31337 batches'],
  },
  {
    what: 'an endpoint without logs and calls by block hash',
    given() {
      proxy.intercept(async ({ method, params }, pass) => {
        const [filter, block] = (params ?? []) as [{ blockHash?: string }, unknown]
        const isByHash = (method === 'eth_getLogs' && filter.blockHash) || typeof block === 'object'
        return isByHash ? { error: { code: -32602, message: 'invalid params' } } : pass()
      })
      return { RPC_URL_31337: proxy.url }
    },
    failed: ['RPC_URL_31337 eth_getLogs'],
    warned: ['RPC_URL_31337 eth_call'],
  },
  {
    what: 'an endpoint without receipts, where nothing proves that the events are complete',
    given: () => without('eth_getBlockReceipts'),
    warned: ['RPC_URL_31337 eth_getBlockReceipts'],
  },
  {
    what: 'a contract that does not exist',
    given: () => ({ SERVICE_ADDRESS_31337: NO_CONTRACT }),
    failed: ['SERVICE_ADDRESS_31337'],
    says: `is ${NO_CONTRACT}, where chain 31337 has no contract`,
  },
  {
    what: 'a contract that does not return its domain',
    async given() {
      const { settlement } = await deploySettlement({
        ...fixture.chain.devnet,
        deployer,
        bytecode: bytecodeNamed('Acme'),
      })
      return { ...without('0x84b0196e'), SERVICE_ADDRESS_31337: settlement, PROTOCOL_NAME: 'Acme' }
    },
    warned: ['SERVICE_ADDRESS_31337 EIP-712 domain'],
    says: 'name Acme and version 1',
  },
  {
    what: 'a contract that hashes quotes with another name than PROTOCOL_NAME',
    given: () => ({ PROTOCOL_NAME: 'Wrong' }),
    failed: ['PROTOCOL_NAME'],
    says: /^is "Wrong", .* does not hash quotes as WrongQuote: it must be /,
  },
  {
    what: 'a contract without the view that shows the name',
    given: () => ({ ...without(DEPOSIT_ADDRESS), PROTOCOL_NAME: 'Wrong' }),
    warned: ['SERVICE_ADDRESS_31337 PROTOCOL_NAME'],
    says: 'no computeDepositAddress',
  },
  {
    what: 'a contract without BOND_RESERVATION_BPS',
    given: () => without('0x8e0d2385'),
    warned: ['SERVICE_ADDRESS_31337 bond cover'],
    says: 'has no BOND_RESERVATION_BPS',
  },
])
