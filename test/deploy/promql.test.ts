import { expect, test } from 'vitest'
import { readExpression } from '../support/deploy/promql.js'

test('the PromQL reader finds metrics, matchers and groupings in an expression', () => {
  const text = `histogram_quantile(0.95, sum by (le, stage) (
    rate(quote_seconds_bucket{stage!="solvers", instance=~"$instance"}[5m])
  )) > 1.5e9 # as sum(comment)
    and on (instance) errors_total unless errors_total offset 10m or vector(0)`
  expect(readExpression(text)).toEqual({
    selectors: [
      {
        metric: 'quote_seconds_bucket',
        matchers: [
          { label: 'stage', operator: '!=', value: 'solvers' },
          { label: 'instance', operator: '=~', value: '$instance' },
        ],
      },
      { metric: 'errors_total', matchers: [] },
      { metric: 'errors_total', matchers: [] },
    ],
    groupings: ['le', 'stage', 'instance'],
  })
})
