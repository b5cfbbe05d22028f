import { withOneFault } from '../with-one-fault.ts'

withOneFault('exchange a server')
