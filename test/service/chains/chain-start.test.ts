import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { deploySettlement } from '../../../packages/cli/src/devnet/deploy.js'
import { deployer, startChain } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const services = new Set<TestService>()

const chain = await shared(startChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: 41 })
await traffic.run({ events: 12, blocks: 6 })

afterEach(async () => {
  for (const service of services) await stop(service)
})

async function start(environment: Record<string, string> = {}, contracts = chain.contracts) {
  const lines: { level: number; msg: string; was?: string }[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const service = await startService(
    { ...chain, contracts },
    { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50', ...environment },
    { log },
  )
  services.add(service)
  return { ...service, lines }
}
async function stop(service: TestService) {
  for (const one of services) {
    if (one.url !== service.url) continue
    services.delete(one)
    await one.close()
  }
}

const startBlock = (block: number) => ({ [`START_BLOCK_${chain.chainId}`]: String(block) })
const chainHealth = async (service: TestService) => (await service.get('/health')).body.chains[0]

describe('a start without a stored position', () => {
  it('waits for a START_BLOCK above the head with a warning, while the chain is syncing and its orders are answered', async () => {
    const { number } = await traffic.head()
    const service = await start(startBlock(number + 3))
    const events = await watchEvents(service)
    const order = traffic.order()
    const early = await traffic.mine([traffic.actions.deposit(order)])
    await eventually(
      () => chainHealth(service),
      ({ headBlock }) => headBlock === early.number,
    )
    expect((await chainHealth(service)).status).toBe('syncing')
    // A busy machine may have a warning of its own.
    const warnings = () => service.lines.filter(({ msg }) => msg.startsWith('START_BLOCK'))
    expect(warnings()).toMatchObject([
      {
        level: 40,
        startBlock: number + 3,
        headBlock: number,
        msg: expect.stringMatching(/^START_BLOCK_\d+ is above the head/),
      },
    ])
    expect((await service.get(`/v1/${chain.chainId}/order/${order.orderId}`)).body.state).toBe('DEPOSITED')
    await traffic.mine([traffic.actions.deposit(traffic.order())])
    await traffic.mine([traffic.actions.fill(order)])
    await events.untilCount(1)
    expect(standing(events.events())).toEqual(await expectedMessages(chain, number + 3))
    await eventually(
      () => chainHealth(service),
      ({ status }) => status === 'ok',
    )
    expect(warnings()).toHaveLength(1)
    events.close()
  })
})

describe('a start with a stored position', () => {
  it('for another contract reads from its beginning with a warning, keeps old cursors and lists no old orders', async () => {
    const environment = { DB_PATH: temporaryFile() }
    const before = await start(environment)
    const early = await watchEvents(before)
    await traffic.run({ events: 4, blocks: 2 })
    await early.untilCount(4)
    const listedOrders = async (service: TestService): Promise<string[]> => {
      const { body } = await service.get(`/v1/${chain.chainId}/orders?pageSize=200`)
      return body.orders.map(({ orderId }: { orderId: string }) => orderId)
    }
    expect(await listedOrders(before)).not.toEqual([])
    await stop(before)

    const contracts = await deploySettlement({ ...chain.devnet, deployer })
    const after = await start({ ...environment, ...startBlock(0) }, contracts)
    expect(after.lines).toMatchObject([
      {
        level: 40,
        msg: expect.stringContaining('the settlement contract has changed'),
        was: chain.contracts.settlement.toLowerCase(),
      },
    ])
    expect(await listedOrders(after)).toEqual([])
    const [, second] = early.events()
    const late = await watchEvents(after, `?after=${second?.cursor}`)
    const other = await createTraffic(
      { ...chain, contracts, domain: { ...chain.domain, verifyingContract: contracts.settlement } },
      { seed: 42 },
    )
    const { fromBlock } = await other.run({ events: 5, blocks: 2 })
    await late.untilCount(7)
    const ofOther = await expectedMessages({ ...chain, contracts }, fromBlock)
    const plain = late.events().map(({ cursor: _, ...message }) => message)
    expect(plain).toEqual([
      ...early
        .events()
        .slice(2)
        .map(({ cursor: _, ...message }) => message),
      ...ofOther,
    ])
    expect(new Set(await listedOrders(after))).toEqual(new Set(ofOther.map(({ orderId }) => orderId)))
    late.close()
  })
})
