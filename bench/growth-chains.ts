import { setTimeout as delay } from 'node:timers/promises'
import { startChain, type TestChain } from '../test/support/chain/chain.js'
import { readMetrics } from '../test/support/service/metrics.js'
import type { Benchmark, Row } from './benchmark.js'
import { type BuiltService, startBuiltService } from './built-service.js'
import { exponentOf, withExponents } from './exponents.js'
import { residentBytes } from './process-memory.js'

const CHAINS = [1, 5, 20]
const FIRST_CHAIN_ID = 31337
const STARTING_AT_ONCE = 4
const BLOCK_SECONDS = 1
const SETTLE_MS = 2000
const SECONDS = 10
const CALLS = 'RPC calls/s'

/** The cost of chains on which nothing happens but blocks. */
export const growthChains: Benchmark = {
  name: 'growth-chains',
  about:
    'A service without requests, by the number of its chains. Each has a block a second without events, and is polled once a ' +
    'second. The exponent is that of the RPC calls, from the row before.',
  async collectMetrics() {
    const chains: TestChain[] = []
    // Each chain ends its process when this one exits.
    process.setMaxListeners(process.getMaxListeners() + Math.max(...CHAINS))
    try {
      const rows: Row[] = []
      for (const count of CHAINS) {
        while (chains.length < count) chains.push(...(await startChains(chains.length, count)))
        rows.push(await measure(chains))
      }
      return {
        rows: withExponents(rows, 'chains', CALLS),
        findings: [
          {
            name: 'chains: exponent of the RPC calls',
            value: exponentOf(rows, 'chains', CALLS),
            atMost: 1.1,
          },
          { name: 'chains: exponent of the CPU', value: exponentOf(rows, 'chains', 'CPU %'), atMost: 1.1 },
        ],
      }
    } finally {
      await Promise.all(chains.map((chain) => chain.stop()))
    }
  },
}

/** Some more chains, from the one with this number on. */
function startChains(from: number, to: number): Promise<TestChain[]> {
  const length = Math.min(STARTING_AT_ONCE, to - from)
  return Promise.all(
    Array.from({ length }, async (_, index) => {
      const chain = await startChain({ chainId: FIRST_CHAIN_ID + from + index, bonded: 0 })
      await mineBlocks(chain)
      return chain
    }),
  )
}

async function mineBlocks({ devnet }: TestChain): Promise<void> {
  const call = { jsonrpc: '2.0', id: 1, method: 'evm_setIntervalMining', params: [BLOCK_SECONDS] }
  const headers = { 'content-type': 'application/json' }
  await fetch(devnet.rpcUrl, { method: 'POST', headers, body: JSON.stringify(call) })
}

async function measure(chains: readonly TestChain[]): Promise<Row> {
  const [first] = chains
  if (first === undefined) throw new Error('there are no chains')
  const addresses = chains.flatMap(({ chainId, devnet, contracts }) => [
    [`RPC_URL_${chainId}`, devnet.rpcUrl],
    [`SERVICE_ADDRESS_${chainId}`, contracts.settlement],
  ])
  const start = performance.now()
  const service = await startBuiltService(first, {
    ...Object.fromEntries(addresses),
    SUPPORTED_CHAINS: chains.map(({ chainId }) => chainId).join(','),
  })
  try {
    const startMs = performance.now() - start
    await delay(SETTLE_MS)
    const before = await readCosts(service)
    await delay(SECONDS * 1000)
    const after = await readCosts(service)
    return {
      chains: chains.length,
      'start ms': startMs,
      'memory MB': residentBytes(service.pid) / 1e6,
      'CPU %': ((after.cpu - before.cpu) / SECONDS) * 100,
      [CALLS]: (after.calls - before.calls) / SECONDS,
    }
  } finally {
    await service.stop()
  }
}

async function readCosts({ url }: BuiltService) {
  const metrics = await readMetrics(url)
  return {
    cpu: metrics.sum('process_cpu_seconds_total'),
    calls: metrics.sum('aggregator_rpc_requests_total'),
  }
}
