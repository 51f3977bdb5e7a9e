import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandLine, startCommandLine } from '../../../test/support/process/command-line.js'
import { ADDRESS, orderIdOf } from '../../client/test/samples.js'
import { NO_ORDER, sendJson, serve } from '../../client/test/server.js'
import { SECRET } from './forward/receiver.js'

const SWAP = ['--chain', '1', '--sell', ADDRESS, '--buy', ADDRESS, '--amount', '1']
const SIGNED = ['unregister', '--chain', '1']
const KEY = `0x${'7'.repeat(64)}`
const NOWHERE = ['--url', 'http://127.0.0.1:9']

/** An instance that answers everything so. */
async function instance(status: number, body: unknown): Promise<string> {
  const { url } = await serve((_request, response) => sendJson(response, status, body))
  return url
}

const refusal = (code: string) => ({ error: 'No.', code })

const LIST = ['solvers', '--chain', '1']

/** By the row of docs/cli.md: what the instance answers, if it is asked, and the command line. */
const CASES: readonly [code: number, meaning: string, argv: readonly string[], answer?: [number, unknown]][] =
  [
    [0, 'done', LIST, [200, []]],
    [0, 'done', ['--help']],
    [1, 'unexpected error', LIST, [500, refusal('INTERNAL')]],
    [2, 'wrong usage', ['solvers', '--colour']],
    [2, 'wrong usage', ['nothing']],
    [2, 'bad input', ['quote', ...SWAP], [400, refusal('INVALID_ARGUMENT')]],
    [2, 'bad input', SIGNED],
    [2, 'bad input', ['watch', '--after', 'x'], [400, refusal('CURSOR_UNKNOWN')]],
    [3, 'no quotes', ['quote', ...SWAP], [503, refusal('NO_QUOTES')]],
    [3, 'an unreachable instance', [...LIST, ...NOWHERE]],
    [3, 'not available now', LIST, [429, refusal('RATE_LIMITED')]],
    [3, 'not available now', LIST, [503, refusal('CHAIN_UNAVAILABLE')]],
    [3, 'not available now', LIST, [200, 'no aggregator']],
    [4, 'a signature', SIGNED, [401, refusal('SIGNATURE_INVALID')]],
    [4, 'a bond', SIGNED, [400, refusal('BOND_INSUFFICIENT')]],
    [4, 'an unknown chain', LIST, [404, refusal('CHAIN_NOT_SUPPORTED')]],
    [5, '`doctor`', ['doctor']],
  ]

describe('the exit codes of docs/cli.md:', () => {
  const rows = readFileSync('docs/cli.md', 'utf8').matchAll(/^\| (\d+) \| (.+) \|$/gm)
  const documented = new Map([...rows].map(([, code, meaning = '']) => [Number(code), meaning]))

  it.each(CASES)('%i, %s: %j', async (code, meaning, argv, answer) => {
    expect(documented.get(code)).toContain(meaning)
    const environment = {
      ...(answer && { AGGREGATOR_URL: await instance(...answer), SOLVER_PRIVATE_KEY: KEY }),
    }
    const ended = await commandLine(argv, { environment })
    expect(ended).toMatchObject({ code })
    // What went wrong is on standard error, and a result on standard output.
    if (code !== 5) expect([ended.stdout === '', ended.stderr === '']).toEqual([code !== 0, code === 0])
  })

  it('130, interrupted before the end: order --watch', async () => {
    expect(documented.get(130)).toBe('interrupted before the end')
    const url = await instance(200, { ...NO_ORDER, orderId: orderIdOf(1) })
    const watching = startCommandLine(['order', orderIdOf(1), '--chain', '1', '--watch', '--url', url])
    await expect.poll(() => watching.written.stdout).toContain('NONE')
    watching.interrupt()
    expect(await watching.ended).toMatchObject({ code: 130 })
  })

  it.each([
    [2, 'INVALID_ARGUMENT', 400],
    [3, 'CURSOR_UNKNOWN', 400],
    [1, 'CHAIN_NOT_SUPPORTED', 404],
  ])(
    '%i of forward, by %s of the instance: only after 1, another start may help',
    async (code, reason, status) => {
      const folder = mkdtempSync(join(tmpdir(), 'forward-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      writeFileSync(join(folder, 'secret'), SECRET, { mode: 0o600 })
      const files = [
        '--secret-file',
        join(folder, 'secret'),
        '--state',
        join(folder, 'state'),
        '--from',
        'now',
      ]
      const url = await instance(status, refusal(reason))
      const argv = ['forward', '--url', url, '--to', 'http://127.0.0.1:9', ...files]
      expect(await commandLine(argv, { environment: {} })).toMatchObject({ code })
    },
  )

  it('every documented code has a case', () => {
    expect([...new Set(CASES.map(([code]) => code)), 130]).toEqual([...documented.keys()])
  })
})
