"""The vocabulary of the simulated world: parts of names, industries, places and sentences."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


STEMS: Final = _words(
    "Alder Amber Anchor Apex Arbor Aspen Atlas Aurora Beacon Birch Bluebird Bramble Bright Canyon "
    "Cedar Cinder Clear Cobalt Copper Coral Crescent Delta Dover Drift Eagle Ember Fairway Falcon "
    "Fern Flint Forge Garnet Glacier Granite Harbor Hazel Heron Highland Ivory Jasper Juniper "
    "Keystone Kestrel Lantern Laurel Linden Lumen Maple Meridian Mesa Mill Northwind Oak Onyx Orchard "
    "Osprey Pioneer Prairie Quarry Raven Ridge River Rowan Saffron Sage Sierra Silver Solstice Spruce "
    "Sterling Summit Tamarack Timber Umber Vale Vesper Willow"
)

TRADES: Final[dict[str, tuple[str, ...]]] = {
    "COMPUTER_SOFTWARE": ("Software", "Systems", "Analytics", "Cloud"),
    "LOGISTICS_AND_SUPPLY_CHAIN": ("Freight", "Logistics", "Shipping", "Cargo"),
    "CONSTRUCTION": ("Builders", "Construction", "Roofing", "Masonry"),
    "HOSPITAL_HEALTH_CARE": ("Health", "Clinics", "Dental", "Care"),
    "FINANCIAL_SERVICES": ("Capital", "Partners", "Advisors", "Trust"),
    "FOOD_BEVERAGES": ("Foods", "Bakery", "Roasters", "Kitchens"),
    "RETAIL": ("Outfitters", "Market", "Supply", "Goods"),
    "RENEWABLES_ENVIRONMENT": ("Energy", "Solar", "Recycling", "Water"),
    "MACHINERY": ("Machine Works", "Tooling", "Robotics", "Pumps"),
    "MARKETING_AND_ADVERTISING": ("Media", "Studio", "Creative", "Agency"),
}
"""HubSpot's name of an industry, and what its companies call themselves."""

OFFERS: Final[dict[str, tuple[str, ...]]] = {
    "COMPUTER_SOFTWARE": ("scheduling software", "fraud detection", "a data warehouse", "access control"),
    "LOGISTICS_AND_SUPPLY_CHAIN": (
        "cold-chain haulage",
        "customs clearance",
        "parcel sorting",
        "warehousing",
    ),
    "CONSTRUCTION": ("timber-frame houses", "flat roofs", "bridge repair", "office fit-outs"),
    "HOSPITAL_HEALTH_CARE": ("home nursing", "imaging centres", "dental implants", "physiotherapy"),
    "FINANCIAL_SERVICES": ("payroll loans", "pension advice", "invoice factoring", "estate planning"),
    "FOOD_BEVERAGES": ("sourdough bread", "cold brew coffee", "organic baby food", "canteen catering"),
    "RETAIL": ("hiking equipment", "school uniforms", "garden furniture", "spare bicycle parts"),
    "RENEWABLES_ENVIRONMENT": ("rooftop solar", "heat pumps", "battery recycling", "waste-water treatment"),
    "MACHINERY": ("injection moulds", "peristaltic pumps", "packaging robots", "laser cutters"),
    "MARKETING_AND_ADVERTISING": (
        "trade-fair stands",
        "podcast production",
        "packaging design",
        "radio spots",
    ),
}
"""What companies of an industry sell."""

FIRST_NAMES: Final = _words(
    "Amara Beatriz Carlos Chloé Daniel Elif Emeka Fatima Grace Hannah Hiroshi Imani Ingrid Jamal "
    "Jonas Kavya Lars Leila Liam Lucía Malik Marta Mei Mohammed Nadia Noah Olga Omar Priya Quinn "
    "Rafael Ren Rosa Samir Sofia Søren Tariq Tomás Uma Valeria Wei Xavier Yara Yusuf Zoë"
)

LAST_NAMES: Final = _words(
    "Adeyemi Andersson Becker Bianchi Campbell Castillo Chen Dubois Eriksen Fernández García Haddad "
    "Hoffmann Ivanova Jensen Johansson Kaya Kim Kowalski Larsen Lindqvist Martín Mensah Müller "
    "Nakamura Novák O'Brien Okafor Olsen Park Patel Petrov Popescu Reyes Rossi Sato Schäfer Silva "
    "Singh Sokolov Suzuki Tanaka Van-Dijk Vargas Walsh Weber Wójcik Yamamoto Yildiz Zhang"
)

TITLES: Final = (
    "Chief Executive Officer",
    "Head of Operations",
    "Purchasing Manager",
    "Finance Director",
    "IT Manager",
    "Office Manager",
    "Marketing Lead",
    "Plant Manager",
    "Account Manager",
    "Legal Counsel",
)

STAGES: Final = (
    "subscriber",
    "lead",
    "marketingqualifiedlead",
    "salesqualifiedlead",
    "opportunity",
    "customer",
    "evangelist",
)

DEAL_STAGES: Final = (
    "appointmentscheduled",
    "qualifiedtobuy",
    "presentationscheduled",
    "decisionmakerboughtin",
    "contractsent",
    "closedwon",
    "closedlost",
)

DEAL_KINDS: Final = ("renewal", "pilot", "expansion", "annual licence", "rollout", "service contract")

CITIES: Final = (
    ("Portland", "OR", "97205"),
    ("Austin", "TX", "78701"),
    ("Duluth", "MN", "55802"),
    ("Savannah", "GA", "31401"),
    ("Boise", "ID", "83702"),
    ("Tucson", "AZ", "85701"),
    ("Albany", "NY", "12207"),
    ("Fresno", "CA", "93721"),
)

STREETS: Final = ("Mill Road", "Harbor Street", "Station Lane", "Fifth Avenue", "Quarry Hill", "Orchard Way")

SERVICES: Final = (
    ("Consulting hours", 140.0),
    ("Onboarding workshop", 1_900.0),
    ("Support plan, monthly", 480.0),
    ("Data migration", 3_200.0),
    ("Training day", 1_250.0),
    ("Annual licence", 7_400.0),
)

TOPICS: Final = (
    (
        "Delivery dates",
        "The second delivery is planned for {day}. {company} needs {offer} at two sites by then.",
    ),
    (
        "Pricing",
        "We agreed on {amount} per year, payable quarterly. {company} asked for a discount on {offer}.",
    ),
    (
        "Security review",
        "{person} sent the questionnaire back. Open point: where backups of {company} are stored.",
    ),
    ("Kick-off", "{person} will introduce the team on {day}. First goal: {offer} without downtime."),
    ("Renewal", "The contract with {company} ends on {day}. {person} wants to extend it and to add {offer}."),
    ("Complaint", "{person} reported two late shipments of {offer}. We offered a credit of {amount}."),
    ("Site visit", "We visited {company} in {city}. The plant for {offer} runs in two shifts."),
)
"""Subjects of mails and notes, each with what is said about it."""
