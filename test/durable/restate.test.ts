import { testRecipe } from './recipe.ts';
import { startRestate } from './restate-server.ts';

testRecipe('restate', startRestate);
