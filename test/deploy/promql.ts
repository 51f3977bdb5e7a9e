/** One condition of a selector, such as `outcome!="quoted"`. */
export interface Matcher {
  readonly label: string
  readonly operator: string
  readonly value: string
}

/** A metric and the conditions on its labels. */
export interface Selector {
  readonly metric: string
  readonly matchers: readonly Matcher[]
}

/** The metrics and labels of a PromQL expression. */
export interface Expression {
  readonly selectors: readonly Selector[]
  /** The labels of `by`, `on` and similar clauses. */
  readonly groupings: readonly string[]
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const SELECTOR = /(?<![\w.$])([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\}|(?![\w:]*\s*\())/g
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g
const WORDS = new Set(['and', 'or', 'unless', 'offset', 'bool'])

/** Reads an expression that promtool accepts. It supports only the syntax that these tests need. */
export function readExpression(text: string): Expression {
  const code = text.replaceAll(/#.*$/gm, '').replaceAll(/\[[^\]]*\]/g, '')
  const groupings = [...code.matchAll(GROUPING)].flatMap(([, labels = '']) => labels.split(/[\s,]+/))
  const selectors = [...code.replaceAll(GROUPING, '').matchAll(SELECTOR)]
    .filter(([, name = '']) => !WORDS.has(name))
    .map(([, metric = '', conditions = '']) => ({
      metric,
      matchers: [...conditions.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
        label,
        operator,
        value,
      })),
    }))
  return { selectors, groupings: groupings.filter((label) => label !== '') }
}
