import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readDockerfile } from '../support/deploy/dockerfile.js'

interface Step {
  readonly if?: string
  readonly uses?: string
  readonly run?: string
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: { readonly run: { readonly strategy: Strategy; readonly steps: readonly Step[] } }
}

interface Strategy {
  readonly matrix: { readonly node: readonly string[] }
}

const text = readFileSync('.github/workflows/ci.yml', 'utf8')
const { permissions, jobs }: Workflow = parse(text)
const { steps, strategy } = jobs.run

describe('the workflow', () => {
  test('runs .ci/run, which is executable, and each night all slow tests, the attackers and the judges', () => {
    const nightly = "github.event_name == 'schedule'"
    expect(steps.slice(-4)).toMatchObject([
      { run: '.ci/run' },
      { if: nightly, run: 'npm run test:slow' },
      { if: nightly, run: 'npm run bench -- selection --check' },
      { if: nightly, run: 'npm run conformance' },
    ])
    expect(statSync('.ci/run').mode & 0o111).toBe(0o111)
    expect(text).toMatch(/^ {4}- cron: '[\d *]+'$/m)
  })

  test('has a smoke of slow tests that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const names: string[] = scripts['test:smoke'].replace(scripts['test:slow'], '').trim().split(' ')
    const files = ['test', 'packages/cli/test'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }),
    )
    expect(names.filter((name) => !files.some((file) => file.includes(`/${name}.slow`)))).toEqual([])
  })

  test('runs on each Node that the package supports, the newest of which is that of the image', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'))
    const [, oldest, middle, newest] =
      /^\^(\d+\.\d+)\.0 \|\| \^(\d+)\.\d+\.0 \|\| >=(\d+)\.0\.0$/.exec(engines.node) ?? []
    expect(strategy.matrix.node).toEqual([oldest, middle, newest])
    expect(readDockerfile()[0]?.base).toMatch(new RegExp(`^node:${newest}\\.`))
  })

  test('pins the major version of each action, only reads the repository and uses no secrets', () => {
    const actions = steps.flatMap(({ uses }) => uses ?? [])
    expect(actions.length).toBeGreaterThan(0)
    expect(actions.filter((action) => !/^actions\/[a-z-]+@v\d+$/.test(action))).toEqual([])
    expect(permissions).toEqual({ contents: 'read' })
    expect(text).not.toContain('secrets.')
  })
})
