import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { type Replica, startReplicaProcesses } from '../../support/replicas/replica-processes.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import { offering, openSession } from '../../support/sessions/session-solver.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, signedRegistration, startSolver } from '../../support/solvers/solver.js'

const RELEASED_MS = 15_000
const TIMEOUT_MS = 60_000
const [account, both] = solverAccounts

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
})
afterAll(() => chain?.stop())

const open = async (replica: Replica, solverAccount: typeof account, output: string) => {
  const session = await openSession(replica.url, chain, solverAccount, { behaviour: offering(output) })
  onTestFinished(session.leave)
  return session
}
const listedAt = async (replica: Replica): Promise<string[]> =>
  (await replica.get(`/v1/${chain.chainId}/solvers`)).body.map(({ address }: { address: string }) => address)
const untilOffered = (replica: Replica, outputs: readonly string[]) =>
  eventually(
    async () => {
      const { body } = await replica.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
      const offers = [body, ...(body.alternativeQuotes ?? [])]
      return offers.map(({ quote }) => quote?.outputAmount)
    },
    (offered) => offered.join() === outputs.join(),
  )

it(
  'the sessions of a killed replica are released within 15 seconds, and go on at another one',
  async () => {
    const { databaseUrl } = await openReplicas(chain)
    const fleet = await startReplicaProcesses(chain, databaseUrl)
    onTestFinished(fleet.stop)
    const [a, b, c] = fleet.replicas as [Replica, Replica, Replica]
    const solver = await startSolver(chain, both, honest({ output: '50' }))
    onTestFinished(() => solver.close())
    const registration = await signedRegistration(both, { endpointUrl: solver.endpointUrl })
    expect((await b.post(`/v1/${chain.chainId}/solvers/register`, registration)).status).toBe(200)
    const session = await open(a, account, '200')
    const sessionOfBoth = await open(a, both, '100')
    await untilOffered(a, ['200', '100'])
    for (const replica of [b, c]) await untilOffered(replica, ['50'])

    await a.kill()
    await Promise.all([session.ended, sessionOfBoth.ended])
    const killedAt = performance.now()
    for (const replica of [b, c]) {
      expect(await listedAt(replica)).toHaveLength(2)
      await untilOffered(replica, ['50'])
    }
    for (const replica of [b, c])
      await eventually(
        () => listedAt(replica),
        (listed) => listed.join() === both.address,
      )
    expect(performance.now() - killedAt).toBeLessThan(RELEASED_MS)
    await open(b, account, '300')
    await untilOffered(b, ['300', '50'])
    expect(await listedAt(c)).toHaveLength(2)
  },
  TIMEOUT_MS,
)
