import { AggregatorError } from '@quote-aggregator/client'
import { describe, expect, test } from 'vitest'
import { toFailure } from '../../packages/cli/src/command-failure.js'
import { EXIT_CODE_HELP, exitCodeOf } from '../../packages/cli/src/exit-codes.js'
import { REASONS } from '../../packages/protocol/src/errors.js'
import { version } from '../../src/config/version.js'
import { commandLine } from '../support/process/command-line.js'

const COMMANDS = [
  'serve',
  'demo',
  'quote',
  'check-offer',
  'order',
  'orders',
  'solvers',
  'bond',
  'certify',
  'register',
  'unregister',
  'watch',
  'doctor',
]
const TOKEN = `0x${'1'.repeat(40)}`

const CERTIFY = [
  'certify',
  '--input-token',
  TOKEN,
  '--output-token',
  TOKEN,
  '--amount',
  '1',
  '--settlement',
  TOKEN,
  '--rpc-url',
  'http://127.0.0.1:9',
]

describe('help', () => {
  test('names every command and every exit code, on standard output', async () => {
    const { code, stdout, stderr } = await commandLine(['--help'])
    expect([code, stderr]).toEqual([0, ''])
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    for (const [exitCode, meaning] of EXIT_CODE_HELP)
      expect(stdout).toMatch(new RegExp(`^  ${exitCode} +${meaning}$`, 'm'))
  })

  test.each(COMMANDS)('of %s begins with its usage', async (command) => {
    const { code, stdout } = await commandLine([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^Usage: quote-aggregator ${command}`))
    expect((await commandLine(['help', command])).stdout).toBe(stdout)
  })

  test('of solvers names what an operator decides about them', async () => {
    const { stdout } = await commandLine(['solvers', '--help'])
    for (const command of ['block', 'unblock', 'blocked', 'allow', 'disallow', 'allowed']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
      const help = await commandLine(['solvers', command, '--help'])
      expect(help.stdout).toMatch(new RegExp(`^Usage: quote-aggregator solvers ${command}`))
    }
  })

  test('without a command goes to standard error', async () => {
    expect(await commandLine([])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Usage:'),
    })
  })

  test('--version', async () => {
    expect(await commandLine(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })
})

describe('wrong usage exits with 2 and explains the right one:', () => {
  const quote = ['quote', '--chain', '1', '--sell', TOKEN, '--buy', TOKEN, '--user', TOKEN]
  test.each([
    [['qoute'], "unknown command 'qoute'\n(Did you mean quote?)"],
    [['solvers'], "required option '--chain <id>' not specified"],
    [['solvers', 'block'], "missing required argument 'address'"],
    [['solvers', 'block', '0x12'], 'It must be an address: 20 bytes in hex with 0x.'],
    [['solvers', 'unblock', TOKEN, '--chain', 'x'], 'It must be a chain id, such as 1.'],
    [['solvers', '--chain', '1', 'block', TOKEN], 'options come last, such as solvers block'],
    [['solvers', 'drop'], "too many arguments for 'solvers'"],
    [['demo', '--twice'], "unknown option '--twice'"],
    [['demo', '--port', '65536'], 'It must be 1 to 65535.'],
    [
      ['order', '0x9146', '--chain', '1'],
      "value '0x9146' is invalid for argument 'order id'. It must be an order id: 32 bytes in hex with 0x.",
    ],
    [['quote', '--chain', '1', '--sell', '0x12'], 'It must be an address, or the symbol of a listed token.'],
    [['quote', '--chain', '1', '--sell', TOKEN], 'It needs --buy, --amount as well.'],
    [[...quote, '--amount', '1e2'], 'It must be a number above 0, such as 1.5 or 1000000.'],
    [[...quote, '--amount', '1', '--deposit-window', '86401'], 'It must be 1 to 86400.'],
    [[...quote, '--amount', '1', '--mode', 'cash'], 'It must be one of CONTRACT, ADDRESS.'],
    [['orders', '--chain', '1', '--state', 'none'], 'It must be one of DEPOSITED, SETTLED, REFUNDED.'],
    [['orders', '--chain', '1', '--limit', '0'], 'It must be 1 to 10000.'],
    [[...CERTIFY, '--amount', '1.5'], 'It must be 1 to 2^256-1, in the smallest unit.'],
    [CERTIFY, 'Name either --endpoint or --session.'],
    [[...CERTIFY, '--endpoint', 'http://a:1'], '--endpoint needs --solver, the address that signs.'],
    [[...CERTIFY, '--endpoint', 'ftp://a'], '--endpoint must be an http or https URL'],
    [['watch', '--type', 'Deposit'], 'It must be one of Deposited, Settled, Refunded, Reverted.'],
    [['solvers', '--chain', '1', '--url', 'localhost'], 'must be an http or https URL'],
  ])('%j', async (argv, message) => {
    const { code, stdout, stderr } = await commandLine(argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })
})

test('only a terminal gets colours', async () => {
  const onTerminal = await commandLine(['doctor'], { isTTY: true })
  expect(onTerminal.stdout.startsWith('\x1b[31mFAIL\x1b[0m  SUPPORTED_CHAINS  is missing')).toBe(true)
  const elsewhere = await commandLine(['doctor'])
  expect([elsewhere.code, elsewhere.stdout]).toEqual([5, expect.stringMatching(/^FAIL {2}SUPPORTED_CHAINS/)])
  expect(elsewhere.stderr).toBe('error: 3 of 3 checks failed: each FAIL says what to do.\n')
})

describe('failures of calls', () => {
  const commandLineOf = (command: string) => `run ${command}`

  test('have a documented exit code for every reason', () => {
    const documented = EXIT_CODE_HELP.map(([code]) => code)
    const reasons = [...Object.keys(REASONS), 'CONNECTION_FAILED', 'CANCELLED']
    for (const reason of reasons) expect(documented).toContain(exitCodeOf({ reason, httpStatus: undefined }))
  })

  test('have the exit code of their status when a newer instance has another reason', () => {
    const codes = [400, 429, 503].map((httpStatus) => exitCodeOf({ reason: 'MOON_ECLIPSED', httpStatus }))
    expect(codes).toEqual([4, 3, 3])
  })

  test('name each bad field, and when to try again', () => {
    const violations = [{ field: 'amount', message: 'must be a decimal integer' }]
    const bad = toFailure(
      new AggregatorError('INVALID_ARGUMENT', 'See amount.', { violations }),
      commandLineOf,
    )
    expect([bad.exitCode, bad.message]).toEqual([
      2,
      'The request is not valid. (INVALID_ARGUMENT)\n  amount must be a decimal integer',
    ])
    const late = toFailure(
      new AggregatorError('RATE_LIMITED', 'Too many.', { retryAfterSeconds: 7 }),
      commandLineOf,
    )
    expect([late.exitCode, late.message]).toEqual([3, 'Too many. (RATE_LIMITED)\nTry again in 7 s.'])
  })

  test('name the instance that did not answer, and how to choose another', () => {
    const error = new AggregatorError('CONNECTION_FAILED', 'No whole answer came from http://a:1.')
    expect(toFailure(error, commandLineOf).message).toMatch(/http:\/\/a:1.*\n.*--url.*AGGREGATOR_URL/)
  })

  test('contain nothing that a terminal interprets', () => {
    const { message } = toFailure(new AggregatorError('INTERNAL', '\x1b[2Jgone\x9b'), commandLineOf)
    expect(message).toBe('?[2Jgone? (INTERNAL)')
  })

  test('exit with 1 and print the stack when they are unexpected', async () => {
    const fail = () => {
      throw new TypeError('odd')
    }
    const { code, stderr } = await commandLine(['records'], { environment: new Proxy({}, { get: fail }) })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: TypeError: odd\n +at /)])
  })
})
