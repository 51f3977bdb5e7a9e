import { describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { useProxiedChain } from '../../support/faults/proxied-chain.js'
import { type Labels, readMetrics } from '../../support/service/metrics.js'
import { webSocket } from '../../support/streams/transports.js'

const on = useProxiedChain({ seed: 21 })
const health = async () => (await on.service.get('/health')).body
const untilChain = (isWanted: (of: { status: string; headBlock: number }) => boolean) =>
  eventually(health, ({ chains }) => isWanted(chains[0]))
const untilHead = (block: number) => untilChain(({ headBlock }) => headBlock === block)
const untilStatus = (wanted: string) => untilChain(({ status }) => status === wanted)

/** The value of the only series of a metric with these labels. */
const sample = async (name: string, labels?: Labels) =>
  (await readMetrics(on.service.url)).value(name, labels)
const ofChain = (name: string, labels: Labels = {}) =>
  sample(name, { chain_id: String(on.chain.chainId), ...labels })

describe('/health', () => {
  it('reports a chain whose past is read as syncing, which is not degraded', async () => {
    await on.traffic.run({ events: 4, blocks: 8 })
    const held = deferred()
    const begun = new Set<string>()
    on.rpc.intercept(async ({ method, params }, pass) => {
      const { fromBlock, toBlock } = (params?.[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      if (method !== 'eth_getLogs' || fromBlock === undefined) return pass()
      if (fromBlock !== toBlock)
        return { error: { code: -32005, message: 'query returned too many results' } }
      if (begun.add(fromBlock).size > 3) await held.opened
      return pass()
    })
    const { number } = await on.traffic.head()
    await on.start({ MAX_REORG_DEPTH: '1', [`START_BLOCK_${on.chain.chainId}`]: String(number - 7) })
    const { status, chains } = await untilStatus('syncing')
    expect([status, chains[0].headBlock]).toEqual(['ok', number])
    await eventually(
      () => ofChain('aggregator_chain_event_block'),
      (block) => block === number - 5,
    )
    held.open()
    await untilStatus('ok')
  })

  it('is degraded while the chain is down, and ok when it is back', async () => {
    await on.start()
    const { number, timestamp } = await on.traffic.mine()
    await untilHead(number)
    on.rpc.setUp(false)
    const lag = () => Math.max(0, Date.now() - timestamp * 1000)
    const before = lag()
    const { status, chains } = await untilStatus('down')
    expect(status).toBe('degraded')
    expect(chains[0]).toMatchObject({ headBlock: number, lagMs: between(before, lag()) })
    on.rpc.setUp(true)
    expect((await untilStatus('ok')).status).toBe('ok')
  })
})

describe('/metrics', () => {
  it('counts events by type, reorganisations and failed polls', async () => {
    await on.start()
    const events = webSocket.open(on.service.url)
    await events.connected()
    const { timestamp } = await on.traffic.head()
    const [filled, refunded, gone] = [on.traffic.order(), on.traffic.order(timestamp), on.traffic.order()]
    const { actions } = on.traffic
    await on.traffic.mine([actions.deposit(filled), actions.deposit(refunded)])
    await on.traffic.mine([
      actions.fill(filled),
      actions.refund(refunded),
      actions.settle(on.traffic.order()),
    ])
    await on.traffic.mine([actions.deposit(gone)])
    await events.take(6)
    await on.traffic.reorganise(1)
    await events.take(7)
    events.leave()
    const counts = ['Deposited', 'Settled', 'Refunded', 'Reverted'].map((type) =>
      ofChain('aggregator_events_total', { type }),
    )
    expect(await Promise.all(counts)).toEqual([3, 2, 1, 1])
    expect(await ofChain('aggregator_reorganisations_total')).toBe(1)

    expect(await ofChain('aggregator_rpc_errors_total')).toBeUndefined()
    on.rpc.setUp(false)
    await untilStatus('down')
    expect(await ofChain('aggregator_rpc_errors_total')).toBeGreaterThanOrEqual(2)
    on.rpc.setUp(true)
    await untilStatus('ok')
    const failures = await ofChain('aggregator_rpc_errors_total')
    await untilHead((await on.traffic.mine()).number)
    expect(await ofChain('aggregator_rpc_errors_total')).toBe(failures)
  })
})
