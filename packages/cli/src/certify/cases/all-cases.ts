import type { CertifiedEndpoint, SessionHost } from '../certify-host.js'
import type { CertifyCase } from '../trial.js'
import { endpointUrl, malformedRequests } from './endpoint-cases.js'
import { requestCases, stillAnswers } from './request-cases.js'
import { runCases } from './run-cases.js'
import { safetyCases } from './safety-cases.js'
import { goAway, noErrors, sessionCases } from './session-cases.js'

/** The cases of an endpoint, in their order. */
export const ENDPOINT_CASES: readonly CertifyCase<CertifiedEndpoint>[] = [
  endpointUrl,
  ...requestCases,
  ...safetyCases,
  malformedRequests,
  ...runCases,
  stillAnswers,
]

/** The cases of a session, in their order, once it is open. */
export const SESSION_CASES: readonly CertifyCase<SessionHost>[] = [
  ...requestCases,
  ...safetyCases,
  ...sessionCases,
  ...runCases,
  goAway,
  stillAnswers,
  noErrors,
]
