import type { Finding } from '../report.js'
import type { Trial } from '../trial.js'

/** One thing that a solver must do. */
export interface CertifyCase<Subject = unknown> {
  /** Stays the same over versions. */
  readonly name: string
  readonly title: string
  /** Whether nothing else can be learned when it fails to get a reply. */
  readonly isEssential?: true
  /** @param subject the endpoint or the session of the solver */
  run(trial: Trial, subject: Subject): Promise<Finding>
}
