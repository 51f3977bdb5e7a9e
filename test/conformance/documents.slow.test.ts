import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startModelChain } from '../support/model-chain/start-model-chain.js'
import { startService } from '../support/service/service.js'
import { shared } from '../support/shared.js'

const REDOCLY = '@redocly/cli@2.77.0'
const SPECTRAL = '@stoplight/spectral-cli@6.16.3'
/** Spectral compiles patterns without the flag `u`, which JSON Schema asks for: it rejects characters above U+FFFF in a class. */
const WITHOUT_UNICODE = /"pattern" property must match format "regex"|^Invalid regular expression/

interface Finding {
  readonly code: string
  readonly message: string
  readonly severity: number
}

const folder = mkdtempSync(join(tmpdir(), 'documents-'))

const chain = await shared(startModelChain({ bonded: 0 }))
const service = await shared(startService(chain))
for (const name of ['openapi.json', 'asyncapi.json'])
  writeFileSync(join(folder, name), JSON.stringify((await service.get(`/${name}`)).body))
writeFileSync(join(folder, 'rules.yaml'), 'extends: ["spectral:oas", "spectral:asyncapi"]\n')

/** Runs a package as npx downloads it. */
function runPackage(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync('npx', ['--yes', ...args], { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr }
}

function canBeHad(name: string): boolean {
  return runPackage(name, '--version').status === 0
}

describe.skipIf(!canBeHad(REDOCLY))('Redocly (needs it from npm)', () => {
  it('finds no error in the served /openapi.json', () => {
    const { status, stdout, stderr } = runPackage(REDOCLY, 'lint', 'openapi.json')
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' })
  })
})

describe.skipIf(!canBeHad(SPECTRAL))('Spectral (needs it from npm)', () => {
  it.each(['openapi.json', 'asyncapi.json'])('finds no error in the served /%s', (name) => {
    const { stdout } = runPackage(
      SPECTRAL,
      'lint',
      '--ruleset',
      'rules.yaml',
      '--format',
      'json',
      '--quiet',
      name,
    )
    const findings: Finding[] = JSON.parse(stdout)
    expect(findings.length).toBeGreaterThan(0)
    const errors = findings.filter(
      ({ severity, message }) => severity === 0 && !WITHOUT_UNICODE.test(message),
    )
    expect(errors).toEqual([])
  })
})
