/** The path of the WebSocket of solver sessions. */
export const SESSION_PATH = '/v1/solvers/session'
