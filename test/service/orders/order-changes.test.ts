import { expect, it } from 'vitest'
import { anyone, solver, startSettlement } from '../../support/chain/settlement.js'
import { eventually } from '../../support/eventually.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { webSocket } from '../../support/streams/transports.js'

const chain = await shared(startSettlement('deployed'))
const service = await shared(startService(chain))
await service.ready()

it('an order that deployed contracts refund without an event of the API is read again, and streams get no event of it', async () => {
  const events = webSocket.open(service.url)
  await events.connected()
  const { quote, signature, orderId, depositAddress } = await chain.signedQuote()
  const { usdc } = chain.contracts
  await chain.transfer(usdc, solver, depositAddress, 5n)
  const read = async () => (await service.get(`/v1/${chain.chainId}/order/${orderId}`)).body
  expect(await read()).toEqual({ orderId, chainId: chain.chainId, state: 'NONE' })
  await chain.nextBlockAt(quote.fillDeadline + 1)
  // One block later, so that the order is not read again for its age.
  await chain.send(anyone, 'deployAndRecover', [quote, signature, usdc])
  expect(await eventually(read, ({ state }) => state !== 'NONE')).toMatchObject({
    state: 'REFUNDED',
    solver: quote.solver,
  })
  const other = await chain.depositedQuote({ depositDeadline: 2 ** 32 - 2, fillDeadline: 2 ** 32 - 1 })
  await events.take(1)
  expect(events.events()).toMatchObject([{ type: 'Deposited', orderId: other.orderId }])
  events.leave()
})
