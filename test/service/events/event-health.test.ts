import { describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { eventually } from '../../support/eventually.js'
import { startFaultyChain } from '../../support/faults/faulty-chain.js'
import type { HealthMessage, StreamMessage } from '../../support/streams/event-messages.js'
import { openAll, transports } from '../../support/streams/transports.js'

const on = await startFaultyChain({ seed: 83 })
const isHealth = (message: StreamMessage): message is HealthMessage => message.type === 'Health'

describe.each(transports)('a stream with health over $name', ({ open }) => {
  it('reports all chains after `connected`, whatever its filter, and no other stream does', async () => {
    await on.start()
    const { body } = await on.service.get('/health')
    const [asked, other] = [open(on.service.url, { health: true, type: ['Settled'] }), open(on.service.url)]
    const report = (await asked.until(isHealth)) as HealthMessage
    expect(asked.messages.map(({ type }) => type)).toEqual(['connected', 'Health'])
    expect(report.cursor).toBe(asked.messages[0]?.cursor)
    const [chain] = body.chains
    const [after] = (await on.service.get('/health')).body.chains
    expect(report).toEqual({
      type: 'Health',
      chains: [{ ...chain, lagMs: between(chain.lagMs, after.lagMs), activeSolvers: 0 }],
      cursor: report.cursor,
    })
    await on.traffic.mine([on.traffic.actions.deposit(on.traffic.order())])
    await other.take(1)
    expect(other.messages.map(({ type }) => type)).toEqual(['connected', 'Deposited'])
    for (const client of [asked, other]) client.leave()
  })
})

it('a node that gives its blocks no time leaves the report without it, and ends no stream', async () => {
  await on.start()
  on.node.intercept(({ method }, answer) => {
    const said = answer() as object
    return method === 'eth_getBlockByNumber' ? { ...said, timestamp: undefined } : said
  })
  await on.traffic.mine([])
  const { number } = await on.traffic.head()
  await eventually(
    async () => (await on.service.get('/health')).body.chains[0],
    ({ headBlock }) => headBlock === number,
  )
  const clients = await openAll(on.service.url, { health: true })
  for (const client of clients) {
    const report = (await client.until(isHealth)) as HealthMessage
    expect(report.chains[0]).toMatchObject({ headBlock: number, status: expect.any(String) })
    expect(report.chains[0]).not.toHaveProperty('lagMs')
    client.leave()
  }
})
