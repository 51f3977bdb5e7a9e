import { afterAll, beforeAll, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startReplicas } from '../../support/replicas/replicas.js'
import { listAllOwnResults, listOwnResults, signOwnResults } from '../../support/solvers/own-results.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts

let chain: TestChain
let solver: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  solver = await startSolver(chain, account, honest({ output: '4000' }))
})
afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})

it("every replica lists the results of all, continues another one's pages, and takes its own origins only", async () => {
  const { services } = await startReplicas(chain)
  const [first, second, third] = services
  await solver.register(first)
  for (const service of services) {
    const body = { ...quoteRequest(chain), depositWindow: 60 }
    const ask = () => service.post(`/v1/${chain.chainId}/quote`, body)
    await eventually(ask, ({ status }) => status === 200)
  }
  const lists = await eventually(
    () => Promise.all(services.map((service) => listAllOwnResults(service, chain.chainId, account))),
    (all) => all.every((list) => list.length === solver.asks.length),
  )
  expect(lists[1]).toEqual(lists[0])
  expect(lists[2]).toEqual(lists[0])
  const page = await listOwnResults(second, chain.chainId, account, { pageSize: 1 })
  const { nextPageToken: pageToken } = page.body
  const next = await listOwnResults(third, chain.chainId, account, { pageSize: 2, pageToken })
  expect([...page.body.results, ...next.body.results]).toEqual(lists[0]?.slice(0, 3))
  const elsewhere = await listOwnResults(
    third,
    chain.chainId,
    account,
    await signOwnResults(account, first.url),
  )
  expect(elsewhere.body.code).toBe('AUDIENCE_REJECTED')
})
