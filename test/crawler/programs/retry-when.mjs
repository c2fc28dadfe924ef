/** Allows a POST to be repeated after a 503, and gives up on a 500. */
export default (failure, request) => {
  if (failure.status === 503 && request.method === 'POST') return true
  return failure.status === 500 ? false : undefined
}
