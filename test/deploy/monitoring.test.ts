import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, stringify } from 'yaml'
import {
  ALERTS_FILE,
  alertQueries,
  alerts,
  dashboard,
  dashboardQueries,
  JOB,
  type Panel,
} from './monitoring.js'
import { readExpression } from './promql.js'

const ALERT_TESTS = 'deploy/prometheus/alerts.test.yml'
const noPromtool = spawnSync('promtool', ['--version']).error !== undefined

/** The tests of promtool, as far as they are read here. */
interface AlertTests {
  readonly tests: readonly {
    readonly promql_expr_test: readonly { readonly exp_samples: readonly { readonly labels: string }[] }[]
  }[]
}

const panels = dashboard.panels.filter(({ type }) => type !== 'row')

describe('the dashboard', () => {
  test.each(panels)('has for "$title" a description, a unit and the selected data source', (panel) => {
    expect(panel.title).not.toBe('')
    expect(panel.description).toMatch(/^[A-Z0-9].*\.$/)
    expect(panel.fieldConfig.defaults.unit).not.toBe('')
    expect(panel.datasource.uid).toBe(`\${datasource}`)
    expect(panel.targets.length).toBeGreaterThan(0)
  })

  test('has no two panels with one id', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('has no two panels in one place, and none outside of the page', () => {
    const overlapping = panels.flatMap((panel, index) =>
      panels.slice(index + 1).filter((other) => overlap(panel, other)),
    )
    expect(overlapping.map(({ title }) => title)).toEqual([])
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })

  test('queries only the selected instances', () => {
    const selectors = dashboardQueries()
      .filter(({ of }) => !of.startsWith('variable'))
      .flatMap(({ expr }) => readExpression(expr).selectors)
      .filter(({ metric }) => metric !== 'ALERTS')
    const others = selectors.filter(({ matchers }) => !matchers.some(({ value }) => value === '$instance'))
    expect(others).toEqual([])
  })
})

describe('the alerts', () => {
  test.each(alerts)('have for $alert a severity, a description and a runbook link', (alert) => {
    expect(['critical', 'warning']).toContain(alert.labels.severity)
    expect(alert.labels.service).toBe('quote-aggregator')
    expect(alert.annotations.summary).toMatch(/\S/)
    expect(alert.annotations.description).toMatch(/\.$/)
    const section = `docs/operations.md#${alert.alert.toLowerCase()}`
    expect(alert.annotations.runbook_url).toBe(`https://runbooks.example/${section}`)
  })

  test('have one section each in the runbook, in their order, which begins with the severity', () => {
    const [, runbook = ''] = readFileSync('docs/operations.md', 'utf8').split('\n## Runbook\n')
    const sections = [...runbook.matchAll(/^### (\w+)\n\n(\w+)\./gm)].map(([, name, severity]) => [
      name,
      severity?.toLowerCase(),
    ])
    expect(sections).toEqual(alerts.map(({ alert, labels }) => [alert, labels.severity]))
  })

  test('fire in one test at least', () => {
    const { tests }: AlertTests = parse(readFileSync(ALERT_TESTS, 'utf8'))
    const samples = tests.flatMap(({ promql_expr_test }) =>
      promql_expr_test.flatMap((each) => each.exp_samples),
    )
    const fires = (name: string) => samples.some(({ labels }) => labels.includes(`alertname="${name}"`))
    expect(alerts.map(({ alert }) => alert).filter((name) => !fires(name))).toEqual([])
  })

  test('use the job name under which Prometheus scrapes the service', () => {
    const jobs = alertQueries().flatMap(({ expr }) =>
      readExpression(expr).selectors.flatMap(({ matchers }) =>
        matchers.filter(({ label }) => label === 'job').map(({ value }) => value),
      ),
    )
    expect([...new Set(jobs)]).toEqual([JOB])
  })
})

test('legends and texts use no label that their expression has aggregated away', () => {
  const lost = [...dashboardQueries(), ...alertQueries()].flatMap(({ of, expr, shownLabels }) => {
    const { groupings } = readExpression(expr)
    if (groupings.length === 0) return []
    return shownLabels.filter((label) => !groupings.includes(label)).map((label) => `${of}: ${label}`)
  })
  expect(lost).toEqual([])
})

describe.skipIf(noPromtool)('promtool (skipped where it is not installed)', () => {
  const promtool = (...args: string[]) => execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })

  test('accepts the configuration and the alerts', () => {
    expect(promtool('check', 'config', 'deploy/prometheus/prometheus.yml')).toContain('is valid')
    expect(promtool('check', 'rules', ALERTS_FILE)).toContain(`${alerts.length} rules found`)
  })

  // promtool evaluates hours of each rule, which takes seconds.
  test('evaluates the alerts: they fire when they must, and only then', () => {
    expect(promtool('test', 'rules', ALERT_TESTS)).toContain('SUCCESS')
  })

  test('accepts every expression of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dashboard-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const rules = dashboardQueries().map(({ expr }, index) => ({ record: `panel_${index}`, expr }))
    const file = join(folder, 'dashboard.yml')
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
    expect(promtool('check', 'rules', file)).toContain(`${rules.length} rules found`)
  })
})

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}
