/** What the words of the statistics mean. The help page has them too. */
export const TERMS = {
  Asked: 'Requests for a quote that the solver got',
  Won: 'The share of these in which its offer was the best of two at least',
  'In time': 'The share that it answered before the deadline, with an offer or with a no',
  Median: 'Half of its answers came within this time',
  p95: '95 of 100 answers came within this time',
  Filled: 'Orders that the solver has paid out',
  'Fill rate': 'The share of its orders that it has filled. The others were refunded',
  'Usual fill': 'The median time from the deposit to the fill, of its latest orders',
  'Free bond': 'The part of its bond that no open order has set aside',
  'Against best': 'The difference from the best offer. 1 bp is a hundredth of a percent',
  After: 'How long the answer took',
  Result: 'Verified: the settlement contract was asked, and would take this offer',
  'Surplus over the next offer':
    'How much better this offer was than the second one. 1 bp is a hundredth of a percent',
} as const

export type TermName = keyof typeof TERMS

/** A word of the console whose meaning stands in its title. */
export function Term({ name }: { readonly name: TermName }) {
  return (
    <abbr title={TERMS[name]} class="term">
      {name}
    </abbr>
  )
}
