import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** An expression of the dashboard or of an alert. */
export interface Query {
  /** The panel or alert, for messages. */
  readonly of: string
  readonly expr: string
  /** The labels that a legend or a text uses. */
  readonly shownLabels: readonly string[]
}

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description: string
  readonly datasource: { readonly uid: string }
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly fieldConfig: { readonly defaults: { readonly unit: string } }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly annotations: { readonly list: readonly { expr: string; titleFormat: string }[] }
  readonly templating: { readonly list: readonly { name: string; type: string; definition?: string }[] }
}

export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export const ALERTS_FILE = 'deploy/prometheus/alerts.yml'
export const dashboard: Dashboard = JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8'))
export const alerts: readonly Alert[] = parse(readFileSync(ALERTS_FILE, 'utf8')).groups.flatMap(
  ({ rules }: { rules: Alert[] }) => rules,
)
/** The job name of the service in Prometheus. */
export const JOB: string = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8')).scrape_configs[0]
  .job_name

const LEGEND_LABEL = /\{\{\s*(\w+)\s*\}\}/g
const TEXT_LABEL = /\$labels\.(\w+)/g
const LABEL_VALUES = /^label_values\((\w+), (\w+)\)$/

const labelsOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, label = '']) => label)

/** Every query of the dashboard as Grafana sends it. Variables stay inside quotes. */
export function dashboardQueries(): Query[] {
  const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      of: title,
      expr,
      shownLabels: labelsOf(legendFormat, LEGEND_LABEL),
    })),
  )
  const annotations = dashboard.annotations.list.map(({ expr, titleFormat }) => ({
    of: titleFormat,
    expr,
    shownLabels: labelsOf(titleFormat, LEGEND_LABEL),
  }))
  const variables = dashboard.templating.list.flatMap(({ name, definition }) => {
    const [, expr = '', label = ''] = LABEL_VALUES.exec(definition ?? '') ?? []
    return definition === undefined ? [] : [{ of: `variable ${name}`, expr, shownLabels: [label] }]
  })
  return [...panels, ...annotations, ...variables].map((query) => ({
    ...query,
    expr: query.expr.replaceAll('$__rate_interval', '5m'),
  }))
}

/** The query of each alert. */
export function alertQueries(): Query[] {
  return alerts.map(({ alert, expr, annotations }) => ({
    of: alert,
    expr,
    shownLabels: labelsOf(Object.values(annotations).join(' '), TEXT_LABEL),
  }))
}
