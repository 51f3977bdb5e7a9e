import { describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { databases } from '../../support/databases/service-databases.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts
const OTHER_USER = `0x${'5e'.repeat(20)}`

const chain = await shared(startModelChain({ bonded: 1 }))

describe.each(databases)('records on %s', (_kind, make) => {
  it('say why a user got no quote, while a service runs and while none does', async () => {
    const { environment, drop } = await make()
    onTestFinished(drop)
    const service = await startService(chain, environment)
    const solver = await startSolver(chain, account, honest({ output: '1000' }))
    onTestFinished(() => solver.close())
    await solver.register(service)
    const run = (...argv: string[]) => commandLine(['records', ...argv], { environment })
    const find = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).stdout)
    const ask = (changes = {}) =>
      service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })

    const quoted = (await ask()).body.quoteId
    solver.behave(async (_ask, _solver, { response }) => void response.writeHead(422).end('{}'))
    const declined = (await ask()).body.quoteId
    const other = (await ask({ userAddress: OTHER_USER, amount: '7' })).body.quoteId
    const ids = (records: { quoteId: string }[]) => records.map(({ quoteId }) => quoteId)
    await eventually(find, (records) => records.length === 3)

    const { weth, usdc } = chain.contracts
    const searches: [string[], string[]][] = [
      [[], [other, declined, quoted]],
      [
        ['--user', user.address],
        [declined, quoted],
      ],
      [['--user', user.address.toUpperCase().replace('0X', '0x'), '--outcome', 'no_quotes'], [declined]],
      [['--outcome', 'quoted', '--pair', `${weth}/${usdc}`], [quoted]],
      [['--outcome', 'no_quotes', '--limit', '1'], [other]],
      [['--pair', `${usdc}/${weth}`], []],
      [['--chain', '99'], []],
      [['--from', '1h', '--to', '30m'], []],
      [['--from', '10m', '--user', OTHER_USER], [other]],
    ]
    for (const [argv, expected] of searches)
      expect([argv, ids(await find(...argv))]).toEqual([argv, expected])
    await service.close()

    const { stdout, stderr, code } = await run('--user', user.address, '--outcome', 'no_quotes')
    expect([stderr, code]).toEqual(['', 0])
    for (const part of [declined, 'no_quotes', `1000000000000000000 of ${weth}`, account.address])
      expect(stdout.toLowerCase()).toContain(part.toLowerCase())
    expect(stdout).toMatch(/declined 422/)
    expect((await run('--user', OTHER_USER, '--outcome', 'quoted')).stdout).toBe('No record is found.\n')
  })

  it('are refused for what cannot be found, with a sentence', async () => {
    const { environment, drop } = await make()
    onTestFinished(drop)
    const run = (...argv: string[]) => commandLine(['records', ...argv], { environment })
    for (const [argv, message] of [
      [['--pair', '0x01'], /two addresses with a slash/],
      [['--from', 'noon'], /It must be a time, such as/],
      [['--outcome', 'late'], /one of quoted, no_quotes, cancelled/],
      [[], /start the service once|cannot be opened/],
    ] as [string[], RegExp][]) {
      const { stderr, code } = await run(...argv)
      expect([argv, code]).toEqual([argv, 2])
      expect(stderr).toMatch(message)
    }
  })
})
