/** What the words of the statistics mean. The help page has them too. */
export const TERMS = {
  Asked: 'Requests for a quote that the solver got',
  Won: 'The share of these in which its offer was the best of two at least',
  'In time': 'The share that it answered before the deadline, with an offer or with a no',
  'Usual answer': 'Half of its answers came within this time',
  'p95 answer': '95 of 100 answers came within this time',
  Paid: 'How many of the orders that have ended it has paid. The others were refunded. ⚠ stands at less than nine in ten',
  'Usual fill':
    'The median time from the deposit to the fill, of its latest orders. No time is known of transfers to an address',
  'Free bond': 'The part of its bond that no open order has set aside',
  'Against best': 'The difference from the best offer. 1 bp is a hundredth of a percent',
  After: 'How long the answer took',
  'Valid offers': 'Answers with an offer that passed all checks',
  Declined: 'Answers that it makes no offer',
  Invalid: 'Answers that failed a check, such as that of the signature',
  Late: 'No answer before the deadline of the auction',
  'Cut off': 'Slower than the soft deadline, after which the others are not kept waiting',
  Failed: 'The request did not reach it, or the connection broke',
  Result:
    'Verified: the settlement contract was asked, and would take this offer. It is asked for the best one; yours is checked again before you pay',
  'Surplus over the next offer':
    'How much better this offer was than the second one. 1 bp is a hundredth of a percent',
} as const

export type TermName = keyof typeof TERMS

/** What words mean, where a phone has no titles. */
export const Legend = ({ names }: { readonly names: readonly TermName[] }) => (
  <dl class="legend">
    {names.map((name) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{TERMS[name]}.</dd>
      </div>
    ))}
  </dl>
)

/** A word of the console whose meaning stands in its title. */
export function Term({ name }: { readonly name: TermName }) {
  return (
    <abbr title={TERMS[name]} class="term">
      {name}
    </abbr>
  )
}
