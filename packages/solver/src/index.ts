export { SessionError } from './session/session-error.js'
