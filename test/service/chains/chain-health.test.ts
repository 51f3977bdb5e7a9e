import { describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { startFaultyChain } from '../../support/faults/faulty-chain.js'
import { NodeError } from '../../support/model-chain/model-node.js'
import { type Labels, readMetrics } from '../../support/service/metrics.js'
import { webSocket } from '../../support/streams/transports.js'

const on = await startFaultyChain({ seed: 21 })
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
    on.node.intercept(async ({ method, params }, answer) => {
      const { fromBlock, toBlock } = (params?.[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      if (method !== 'eth_getLogs' || fromBlock === undefined) return answer()
      if (fromBlock !== toBlock) throw new NodeError(-32005, 'query returned too many results')
      if (begun.add(fromBlock).size > 3) await held.opened
      return answer()
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
    on.node.setState('down')
    const lag = () => Math.max(0, Date.now() - timestamp * 1000)
    const before = lag()
    const { status, chains } = await untilStatus('down')
    expect(status).toBe('degraded')
    expect(chains[0]).toMatchObject({ headBlock: number, lagMs: between(before, lag()) })
    on.node.setState('up')
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
    on.node.setState('down')
    await untilStatus('down')
    expect(await ofChain('aggregator_rpc_errors_total')).toBeGreaterThanOrEqual(2)
    on.node.setState('up')
    await untilStatus('ok')
    const failures = await ofChain('aggregator_rpc_errors_total')
    await untilHead((await on.traffic.mine()).number)
    expect(await ofChain('aggregator_rpc_errors_total')).toBe(failures)
  })
})
