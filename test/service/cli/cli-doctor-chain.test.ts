import { createServer } from 'node:http'
import { getAbiItem, toFunctionSelector } from 'viem'
import { afterEach, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { listen } from '../../support/listen.js'
import { NodeError } from '../../support/model-chain/model-node.js'
import { shared } from '../../support/shared.js'
import { itDiagnoses, startDoctorFixture } from './doctor.js'

const DEPOSIT_ADDRESS = toFunctionSelector(getAbiItem({ abi: settlementAbi, name: 'computeDepositAddress' }))
const NO_CONTRACT = `0x${'11'.repeat(20)}`

const inAnHour = String(Math.floor(Date.now() / 1000) + 3600)
const fixture = await shared(startDoctorFixture())
const { environment } = fixture
/** Another network with the same chain id, whose clock is an hour ahead. */
const stranger = await shared(startAnvil({ extraArgs: ['--timestamp', inAnHour] }))
const node = await shared(fixture.chain.openNode())

afterEach(() => {
  node.intercept()
  node.setState('up')
})

/** A node without a method, or whose contract lacks the function with a selector. */
function without(what: string) {
  node.intercept(({ method, params = [] }, answer) => {
    if (method === what) throw new NodeError(-32601, 'no such method')
    const [call] = params as { data?: string }[]
    if (method === 'eth_call' && call?.data?.startsWith(what)) throw new NodeError(3, 'execution reverted')
    return answer()
  })
  return { RPC_URL_31337: node.url }
}

itDiagnoses(fixture, [
  {
    what: 'the member of an answer that keeps the next block from being read',
    given() {
      node.intercept(({ method }, answer) => {
        if (method === 'eth_getLogs') return 'pruned'
        const said = answer() as object
        return method.startsWith('eth_getBlockBy') ? { ...said, logsBloom: null, transactions: null } : said
      })
      return { RPC_URL_31337: node.url }
    },
    failed: ['RPC_URL_31337 block'],
    says: /^block \d+ cannot be read at logs: /,
  },
  {
    what: 'a dead endpoint only by its host, because its URL may contain a key',
    given() {
      node.setState('down')
      return { RPC_URL_31337: `${node.url}/v3/secret-key` }
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
      onTestFinished(() => void server.close().closeAllConnections())
      return { RPC_URL_31337: (await listen(server)).url }
    },
    warned: ['RPC_URL_31337 batches'],
  },
  {
    what: 'an endpoint without logs and calls by block hash',
    given() {
      node.intercept(({ method, params }, answer) => {
        const [filter, block] = (params ?? []) as [{ blockHash?: string }, unknown]
        const isByHash = (method === 'eth_getLogs' && filter.blockHash) || typeof block === 'object'
        if (isByHash) throw new NodeError(-32602, 'invalid params')
        return answer()
      })
      return { RPC_URL_31337: node.url }
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
    given: () => without('0x84b0196e'),
    warned: ['SERVICE_ADDRESS_31337 EIP-712 domain'],
    says: 'name Service and version 1',
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
