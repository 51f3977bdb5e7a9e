import { afterAll, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { databases, type TestDatabase } from '../../support/databases/service-databases.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { startService } from '../../support/service/service.js'
import { openSession } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { signedRegistration, startSolver } from '../../support/solvers/solver.js'
import { runKeys } from './keyed-service.js'

const LISTED = '0x000000000000000000000000000000000000dEaD'
const [[, makeFile], [, makePostgres]] = databases as [(typeof databases)[0], (typeof databases)[0]]

const chain = await shared(startModelChain({ bonded: 2 }))
const file = await makeFile()
const postgres = await makePostgres()

afterAll(async () => {
  await file?.drop()
  await postgres?.drop()
})

const path = () => file.environment.DB_PATH ?? ''
const migrate = (...argv: string[]) =>
  commandLine(['migrate', '--from', path(), ...argv], { environment: postgres.environment })

it('migrate moves keys, lists and registrations to an empty PostgreSQL, once, while the service of the file is stopped', async () => {
  const start = ({ environment }: TestDatabase) => startService(chain, environment)
  let service = await start(file)
  const solver = await startSolver(chain, solverAccounts[0])
  onTestFinished(solver.close)
  const { endpointUrl } = solver
  const registration = await signedRegistration(solverAccounts[0], { endpointUrl })
  const register = () => service.post(`/v1/${chain.chainId}/solvers/register`, registration)
  expect((await register()).status).toBe(200)
  const session = await openSession(service.url, chain, solverAccounts[1])
  const { id, key } = await runKeys(file.environment, 'add', '--label', 'acme', '--limit', 'quote=600')
  const lists = (...argv: string[]) => commandLine(['solvers', ...argv], file)
  for (const list of ['block', 'allow']) expect((await lists(list, LISTED)).code).toBe(0)

  expect(await migrate()).toMatchObject({ code: 2, stderr: expect.stringContaining('another service uses') })
  await service.close()
  await session.ended
  expect(await migrate('--json')).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /"api_keys": 1,\s+"listed_solvers": 2,\s+"solvers": 2,\s+"solver_timestamps": 1/,
    ),
  })
  const again = await migrate()
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('DATABASE_URL names a database that is in use'),
  })

  service = await start(postgres)
  onTestFinished(() => service.close())
  const headers = { 'x-api-key': key }
  expect((await service.send('GET', '/v1/chains', undefined, { headers })).status).toBe(200)
  expect(await runKeys(postgres.environment, 'show', id)).toMatchObject({ limits: { quote: 600 } })
  for (const list of ['blocked', 'allowed']) {
    const { stdout } = await commandLine(['solvers', list], postgres)
    expect(stdout).toContain(LISTED)
  }
  const { body } = await service.get(`/v1/${chain.chainId}/solvers`)
  expect(JSON.stringify(body)).toContain(solverAccounts[0].address)
  // A registration that was accepted before is not accepted again.
  expect(JSON.stringify((await register()).body)).toContain('TIMESTAMP_REUSED')
})

it('migrate refuses a file that is not there', async () => {
  const words = '--from is /nowhere/service.db, which cannot be opened'
  const refused = await migrate('--from', '/nowhere/service.db')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(words) })
})
