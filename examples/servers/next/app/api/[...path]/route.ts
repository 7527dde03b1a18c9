// Next. The client of its pages has { apiKey: null, baseURL: '/api' }; handler.ts is where you like.
import { handle } from '@/handler';

export { handle as POST };
