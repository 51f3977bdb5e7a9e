import { expect, it } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'
import { openSession } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { contractStruct } from '../../support/solvers/solver.js'

const [account, other] = solverAccounts

const chain = await shared(startModelChain({ bonded: 2 }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.weth, user, 10n ** 20n)

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
const bodyOf = (response: Response): Promise<any> => response.json()
const get = async (url: string) => bodyOf(await fetch(url))
const listed = (url: string) => get(`${url}/v1/${chain.chainId}/solvers`)
const askQuote = (url: string) =>
  fetch(`${url}/v1/${chain.chainId}/quote`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(quoteRequest(chain)),
  })

/** A service as a process that has read its chain. */
async function start(DB_PATH: string) {
  const service = startServiceProcess({ ...environmentFor(chain), DB_PATH })
  const url = String((await service.waitFor(/"url":"([^"]+)"/))[1])
  await eventually(
    () => get(`${url}/v1/chains`),
    ({ chains }) => chains[0].domain !== undefined,
  )
  return { ...service, url }
}

it('after kill -9, no solver is listed that is not connected, and each has kept its place', async () => {
  const file = temporaryFile()
  const killed = await start(file)
  const before = await openSession(killed.url, chain, account, { events: {} })
  await openSession(killed.url, chain, other)
  const [{ registeredAt }] = await listed(killed.url)
  killed.signal('SIGKILL')
  await killed.exited

  const { url, signal, exited } = await start(file)
  expect(await listed(url)).toEqual([])
  expect((await askQuote(url)).status).toBe(503)
  const events = { after: before.ready.cursor }
  const session = await openSession(url, chain, account, { events })
  expect(await listed(url)).toMatchObject([{ address: account.address, registeredAt }])
  const { quote, solverSignature, orderId } = await bodyOf(await askQuote(url))
  await calls.send(user, 'deposit', [contractStruct(quote), solverSignature])
  const { event } = await session.next('event')
  expect((event.deposited ?? event).orderId).toBe(orderId)
  signal('SIGTERM')
  await session.next('goAway')
  expect(await exited).toBe(0)
})
