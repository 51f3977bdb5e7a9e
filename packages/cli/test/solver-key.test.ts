import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commandLine } from '../../../test/support/process/command-line.js'

const KEY = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const REGISTER = ['register', '--chain', '1', '--endpoint', 'http://127.0.0.1:9', '--name', 'Ada']
/** No server listens there, so an accepted key leads to a failed call. */
const NOWHERE = { AGGREGATOR_URL: 'http://127.0.0.1:9' }

function keyFile(text: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'key-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'solver.key')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('a private key as an argument is rejected and not printed:', () => {
  test.each([
    [['--private-key', KEY]],
    [[`--private-key=0x${KEY}`]],
    [['--privateKey', `0x${KEY}`]],
    [['--key', KEY]],
    [['-k', 'whatever']],
    [['--secret-key=whatever']],
    [['--mnemonic', 'test test junk']],
    [['--key-file', `0x${KEY}`]],
    [[`--key-file=${KEY.toUpperCase()}`]],
    [[KEY]],
    [['--name', KEY]],
  ])('%j', async (args) => {
    const { code, stdout, stderr } = await commandLine([...REGISTER, ...args], { environment: NOWHERE })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('never taken as an argument')
    expect(stderr).toContain('SOLVER_PRIVATE_KEY')
    expect(stderr.toLowerCase()).not.toContain(KEY)
    expect(stderr).not.toMatch(/junk|whatever/)
  })

  test('by other commands too, while an order id is accepted', async () => {
    const refused = await commandLine(['solvers', '--chain', '1', '--private-key', KEY])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('never taken')])
    const order = await commandLine(['order', `0x${KEY}`, '--chain', '1'], { environment: NOWHERE })
    expect([order.code, order.stderr]).toEqual([3, expect.stringContaining('No whole answer came from')])
  })
})

describe('a private key is accepted', () => {
  test.each([
    ['from SOLVER_PRIVATE_KEY', [], { environment: { ...NOWHERE, SOLVER_PRIVATE_KEY: `0x${KEY}` } }],
    ['from standard input', ['--key-file', '-'], { environment: NOWHERE, stdin: `${KEY}\n` }],
  ])('%s', async (_where, args, options) => {
    const { code, stderr } = await commandLine([...REGISTER, ...args], options)
    expect([code, stderr]).toEqual([3, expect.stringContaining('No whole answer came from')])
  })

  test('from a file, before SOLVER_PRIVATE_KEY', async () => {
    const environment = { ...NOWHERE, SOLVER_PRIVATE_KEY: 'nonsense' }
    const ended = await commandLine([...REGISTER, '--key-file', keyFile(KEY)], { environment })
    expect([ended.code, ended.stderr]).toEqual([
      3,
      expect.stringMatching(/^error: No whole answer came from/),
    ])
  })

  test('from a file that others may read, with a warning', async () => {
    const path = keyFile(KEY, 0o640)
    const ended = await commandLine([...REGISTER, '--key-file', path], { environment: NOWHERE })
    expect(ended.code).toBe(3)
    expect(ended.stderr).toContain(`chmod 600 ${path}`)
  })
})

describe('an invalid private key is rejected and not printed:', () => {
  const ZERO = '0'.repeat(64)
  const ORDER_OF_CURVE = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
  test.each([KEY.slice(1), `${KEY}00`, `${KEY.slice(1)}g`, 'test test junk', '', ZERO, ORDER_OF_CURVE])(
    '%j',
    async (text) => {
      const options = { environment: NOWHERE, stdin: text }
      const { code, stderr } = await commandLine([...REGISTER, '--key-file', '-'], options)
      expect([code, stderr]).toEqual([2, expect.stringContaining('Standard input has')])
      if (text !== '') expect(stderr).not.toContain(text)
    },
  )

  test('a missing key', async () => {
    const { code, stderr } = await commandLine(REGISTER, { environment: NOWHERE })
    expect([code, stderr]).toEqual([2, expect.stringContaining('Set SOLVER_PRIVATE_KEY')])
  })

  test('a missing file', async () => {
    const ended = await commandLine([...REGISTER, '--key-file', '/nowhere/key'], { environment: NOWHERE })
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('/nowhere/key cannot be read')])
  })

  test('a key whose input would be visible', async () => {
    const options = { environment: NOWHERE, stdin: KEY, isTTY: true }
    const { code, stderr } = await commandLine([...REGISTER, '--key-file', '-'], options)
    expect([code, stderr]).toEqual([2, expect.stringContaining('typed key is visible')])
  })
})
