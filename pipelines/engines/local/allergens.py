"""What people are allergic to, so that "I'm allergic to Mondays" is told from "I'm allergic to shellfish" by what it names, not by how it is said."""

# Word lists read better as text.

from __future__ import annotations

import re

from pipelines.text.words import stem

_FOODS = """peanut walnut hazelnut almond cashew pistachio pecan macadamia chestnut coconut nut treenut acorn sesame mustard celery lupin lupine soy soya soybean tofu gluten wheat barley rye
    oat corn maize rice buckwheat spelt milk dairy lactose cheese butter cream casein whey egg yolk fish salmon tuna cod trout turbot halibut haddock mackerel sardine plaice eel caviar roe anchovy herring shellfish crustacean mollusc mollusk shrimp prawn
    crab lobster crayfish mussel clam oyster scallop squid octopus seafood beef pork chicken turkey lamb meat gelatin kiwi kiwifruit banana avocado mango papaya pineapple peach apricot plum cherry
    apple pear orange lemon lime grapefruit citrus grape raisin melon watermelon strawberry raspberry blueberry blackberry cranberry berry fig date pomegranate passionfruit lychee tomato potato
    pepper chili paprika carrot onion garlic leek ginger turmeric cinnamon cumin coriander cilantro parsley dill fennel basil mint oregano thyme rosemary vanilla nutmeg clove saffron sage spinach
    lettuce cabbage broccoli kale mushroom yeast bean lentil chickpea pea legume quinoa flax linseed chia sunflower poppy pumpkin seed honey chocolate cocoa coffee caffeine tea alcohol wine beer
    sulfite sulphite sulfate msg aspartame sorbitol histamine nightshade spice vinegar"""
_MEDICINES = """penicillin amoxicillin ampicillin antibiotic aspirin ibuprofen paracetamol acetaminophen naproxen diclofenac codeine morphine opioid tramadol sulfa sulfonamide cephalosporin cefalexin
    tetracycline doxycycline erythromycin azithromycin ciprofloxacin lidocaine novocaine anesthetic anaesthetic anaesthesia iodine contrast insulin vaccine nsaid steroid cortisone heparin statin
    medicine medication drug painkiller metronidazole trimethoprim chlorhexidine"""
_OTHERS = """latex nickel cobalt chromium silver gold copper metal wool lanolin feather down fur dander hair cat dog horse rabbit hamster guinea bird rodent bee wasp hornet ant mosquito flea tick
    spider insect sting bite pollen ragweed birch hazel oak ash grass hay tree plant ivy flower lily dust mite mold mould mildew fungus spore perfume fragrance scent detergent soap shampoo
    cosmetic makeup dye henna paraben formaldehyde preservative bleach chlorine ammonia adhesive plaster tape resin rosin epoxy acrylic rubber neoprene nylon polyester cotton leather sunlight sun
    sunscreen pet animal reptile fish smoke sawdust"""
_KNOWN = frozenset(map(stem, " ".join((_FOODS, _MEDICINES, _OTHERS)).split()))
_BUILT_LIKE = re.compile(r"(?:cillin|mycin|oxacin|cycline|profen|azole|caine|nuts?|berr(?:y|ies)|fish|seeds?|flour|pollen|dander|stings?|bites?|mites?)$")
_MEDICAL = re.compile(
    r"\b(?:epi-?pen|hives|rash|anaphyla\w+|hospital|doctor|allergist|diagnos\w+|test(?:ed|s)? (?:results?|positive)|swell\w*|swollen|antihistamines?|itch\w*|throat|since (?:childhood|birth|i was))\b|疹|确诊|医生|医院|严重",
    re.IGNORECASE,
)
_DREADED = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|meetings?|mornings?|e-?mails?|work|deadlines?|drama|people|nonsense|maths?|excel|small talk|spreadsheets?|slides?|presentations?|power ?points?|stand-?ups?"
    r"|calls|phone calls|tickets|bugs|regex(?:es)?|(?:java)?script|taxes|crowds|queues|traffic|commut\w+|chores|mess|noise|silence|criticism|change|stupidity|fun|exercise|effort|paperwork|bureaucracy|commitment|code|losing)\b"
    r"|开会|会议|早会|例会|周[一二三四五六日报会]|星期|上班|加班|早起|数学|报表|代码|人$",
    re.IGNORECASE,
)
_ZH = re.compile(
    "花生|坚果|腰果|核桃|杏仁|榛|开心果|芝麻|大豆|黄豆|豆|小麦|麸质|面筋|面粉|玉米|荞麦|牛奶|奶|乳糖|乳|鸡蛋|蛋|鱼|虾|蟹|海鲜|贝|鱿|章鱼|牛肉|羊肉|猪肉|鸡肉|芒果|菠萝|桃|猕猴桃|苹果|草莓|香蕉|荔枝|橙|柠檬|番茄"
    "|西红柿|山药|芋|蘑菇|香菜|芹菜|花椒|辣椒|胡椒|芥末|孜然|姜|蒜|葱|蜂蜜|蜂|酒|咖啡|巧克力|青霉素|头孢|阿司匹林|布洛芬|磺胺|抗生素|碘|药|麻醉|疫苗|花粉|柳絮|杨絮|尘螨|螨|灰尘|粉尘|霉|猫|狗|宠物|毛|羽|乳胶"
    "|橡胶|镍|金属|香水|香精|化妆品|洗涤|油漆|甲醛|紫外线|阳光|冷空气|蚊|虫"
)


def is_allergen(value: str, sentence: str) -> bool:
    """Whether a person can be allergic to `value` in earnest: known, built like what is known, or told beside words of medicine and not a thing people dread."""
    plain = value.casefold().strip(" .,!")
    if _ZH.search(plain):
        return True
    words = re.findall(r"[a-z]+", plain)
    if words and (any(stem(word) in _KNOWN for word in words[-2:]) or _BUILT_LIKE.search(words[-1])):
        return True
    return not _DREADED.search(plain) and bool(_MEDICAL.search(sentence))


def is_dreaded(value: str) -> bool:
    """Whether it is one of the things people are "allergic" to in jest."""
    return _DREADED.search(value.casefold()) is not None
